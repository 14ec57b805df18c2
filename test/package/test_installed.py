"""The installation that these tests run from: what `make setup` laid into the environment, editable or not."""

from __future__ import annotations

import os
import sys
import sysconfig
from importlib.metadata import distributions
from pathlib import Path

import pytest

import sim_node

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = Path(sim_node.__file__).parent
# only the environment's own: a build leaves metadata in the source tree too
INSTALLED = [
    Path(str(path.locate())).resolve()
    for found in distributions(name="sim_node", path=[sysconfig.get_path("platlib")])
    for path in found.files or ()
]
if not INSTALLED:
    pytest.skip("sim_node is not installed in this environment, its folder is on the path", allow_module_level=True)


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "msg").glob("*.msg")))
def test_message_texts_lie_beside_the_package(name: str) -> None:
    assert (PACKAGE / "msg" / name).read_bytes() == (ROOT / "msg" / name).read_bytes()


def test_the_header_lies_beside_the_package() -> None:
    for header in (path for path in (ROOT / "include").rglob("*") if path.is_file()):
        assert (PACKAGE / "include" / header.relative_to(ROOT / "include")).read_bytes() == header.read_bytes()


@pytest.mark.parametrize("name", ["lib/sim_node/sim_node", "share/sim_node/launch/sim.launch.py", "bin/sim-node"])
def test_the_prefix_holds(name: str) -> None:
    """pip knows each file, so that uninstalling removes it."""
    assert Path(sys.prefix).resolve() / name in INSTALLED


def test_the_executable_is_one() -> None:
    assert os.access(Path(sys.prefix, "lib/sim_node/sim_node"), os.X_OK)


def test_ros_finds_the_package() -> None:
    pytest.importorskip("rclpy", reason="installed without ROS")
    assert Path(sys.prefix).resolve() / "share/ament_index/resource_index/packages/sim_node" in INSTALLED
