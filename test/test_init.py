"""The package's front door."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sim_node


def test_importing_loads_nothing_heavy() -> None:
    code = "import sys, sim_node; print(sorted({'numpy', 'llvmlite', 'rclpy', 'rosbags'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_found() -> None:
    for name in sim_node._HOMES:
        assert getattr(sim_node, name) is not None
        assert name in dir(sim_node)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = sim_node.no_such_name
