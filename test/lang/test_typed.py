"""Kernels and funcs as type checkers see them."""

import subprocess
import sys
from pathlib import Path

import pytest

import sim_node as sn
from sim_node.compiler.frontend import lower

TEXT = """from __future__ import annotations

import sim_node as sn


@sn.func
def twice(x: float) -> float:
    return x * 2.0


@sn.kernel
def step(x: sn.Array[sn.vec3], y: sn.Array[float], z: sn.array[sn.vec3], n: sn.uint32, s: float) -> None:
    x[0] = x[0] * twice(s)


@sn.kernel(deterministic=False)
def other(x: sn.Array[sn.vec3]) -> None:
    pass


reveal_type(step)
reveal_type(other)
reveal_type(twice)
sn.kernel(3)
"""


def test_annotations_pass_mypy(tmp_path):
    file = tmp_path / "kernels.py"
    file.write_text(TEXT)
    root = Path(__file__).parents[2]
    made = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", root / "pyproject.toml", file],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = [line.partition("kernels.py:")[2] for line in made.stdout.splitlines() if "kernels.py:" in line]
    assert said[0] == '21: note: Revealed type is "sim_node.lang.kernel.Kernel"', made.stdout
    assert said[1] == '22: note: Revealed type is "sim_node.lang.kernel.Kernel"'
    assert said[2] == '23: note: Revealed type is "sim_node.lang.func.Func"'
    assert {line.partition(":")[0] for line in said[3:]} == {"24"}


@pytest.mark.parametrize("dtype", [sn.vec3, float, sn.uint32])
def test_they_mean_what_the_others_do(dtype):
    assert sn.Array[dtype] == sn.array(dtype=dtype) == sn.array[dtype]

    @sn.kernel
    def k(x: "sn.Array[dtype]"):
        x[0] = x[0]

    assert lower(k).entry.params[0].type == sn.array(dtype=dtype)
