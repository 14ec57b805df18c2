"""``sim-node inspect kernel``."""

import pytest

SOURCE = """\
from typing import Any

import sim_node as sn

GAIN = 2.0


@sn.kernel
def scale(x: sn.array(dtype=float), y: sn.array(dtype=float)):
    i = sn.tid()
    y[i] = x[i] * GAIN


@sn.kernel
def open_(x: sn.array(dtype=Any)):
    x[sn.tid()] = x[0]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "kernels.py"
    path.write_text(SOURCE)
    return path


def test_a_kernel_is_told_as_one_object_and_as_tables(sim_node, file):
    said = sim_node("inspect", "kernel", f"{file}:scale", "--json").object
    assert (said["kernel"], said["target"], said["vectorised"], said["why"]) == ("scale", "host", True, [])
    assert [check["state"] for check in said["checks"]] == ["hoisted", "hoisted"]
    assert said["checks"][0]["at"] == f"{file}:11:12"
    assert next(iter(said["stages"])) == "lower"
    assert "hoisted" in sim_node("inspect", "kernel", f"{file}:scale").out


def test_one_stage_is_printed_alone(sim_node, file):
    assert ".target sm_75" in sim_node("inspect", "kernel", f"{file}:scale", "--target", "sm_75", "--stage", "code").out
    said = sim_node("inspect", "kernel", f"{file}:scale", "--stage", "fold", "--json").object
    assert list(said["stages"]) == ["fold"]


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("nope", (), "there is no such name there; kernels there: scale, open_"),
        ("GAIN", (), "it is float, not a kernel"),
        ("open_", (), "is left open"),
        ("scale", ("--target", "sm_9"), "there is no target 'sm_9'"),
        ("scale", ("--stage", "last"), "--stage last: there is no such stage; one of lower, inline"),
    ],
)
def test_what_cannot_be_shown(sim_node, file, name, options, why):
    failed = sim_node("inspect", "kernel", f"{file}:{name}", *options)
    assert failed.code == 2
    assert why in failed.err


def test_what_names_no_kernel(sim_node):
    failed = sim_node("inspect", "kernel", "kernels")
    assert (failed.code, failed.out) == (2, "")
    assert "'kernels' names no kernel; write file.py:NAME or module:NAME" in failed.err
