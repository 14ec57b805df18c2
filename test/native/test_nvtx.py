"""Ranges that a profiler's library gets from a stepper: nvtx_tool.c, loaded as a real one is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sim_node import _native

HERE = Path(__file__).resolve().parent
COMPILER = os.environ.get("CC", "cc").split()
SCRIPT = """
from sim_node import _native
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.plant import Stepper
stepper = Stepper(QuarterCar(), dt_ns=1000000, substeps=2)
listens = _native.nvtx_open()
_native.nvtx_push("mine")
stepper.tick(2)
_native.nvtx_pop()
print(listens, stepper.step, "nvtx_tool" in open("/proc/self/maps").read())
"""
TICK = ["+tick", "+plan", "-", "+commit", "-", "-"]


@pytest.fixture(scope="module")
def tool(tmp_path_factory) -> Path:
    library = tmp_path_factory.mktemp("tool") / "nvtx_tool.so"
    flags = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC"]
    subprocess.run([*COMPILER, *flags, str(HERE / "nvtx_tool.c"), "-o", str(library)], check=True)
    return library


def ticked(folder: Path, **settings: str) -> tuple[str, str, list[str]]:
    """What a process prints and warns of, and the lines that the tool writes."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NVTX_")}
    written = folder / "ranges"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**kept, "NVTX_TOOL_FILE": str(written), **settings},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip(), done.stderr, written.read_text().split() if written.exists() else []


def test_a_profiler_gets_ticks_and_their_parts(tool, tmp_path):
    printed, warned, lines = ticked(tmp_path, NVTX_INJECTION64_PATH=str(tool))
    assert (printed, warned) == ("True 2 True", "")
    assert lines == ["+mine", *TICK, *TICK, "-"]


def test_without_a_profiler_nothing_is_loaded(tmp_path):
    assert ticked(tmp_path) == ("False 2 False", "", [])


@pytest.mark.parametrize(
    ("setting", "reason"),
    [("NVTX_TOOL_REFUSE", "it failed to start"), ("NVTX_TOOL_IDLE", "it asks for no ranges of threads")],
)
def test_a_tool_that_does_not_listen_is_told_of(setting, reason, tool, tmp_path):
    printed, warned, lines = ticked(tmp_path, NVTX_INJECTION64_PATH=str(tool), **{setting: "1"})
    assert printed.startswith("False 2")
    assert lines == []
    assert f"RuntimeWarning: NVTX_INJECTION64_PATH names {tool}, which is no tool that takes ranges: {reason}" in warned


def test_a_library_that_is_absent_or_no_tool_is_told_of(tmp_path):
    printed, warned, _ = ticked(tmp_path, NVTX_INJECTION64_PATH=str(tmp_path / "absent.so"))
    assert printed == "False 2 False"
    assert "RuntimeWarning" in warned
    assert "absent.so: cannot open" in warned
    printed, warned, _ = ticked(tmp_path, NVTX_INJECTION64_PATH=_native.__file__)
    assert printed == "False 2 False"
    assert "it has no function InitializeInjectionNvtx2" in warned
