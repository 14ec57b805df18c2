"""What is told of a kernel is what its texts show."""

import pytest

import sim_node as sn
from sim_node.compiler import inspection as inspected
from sim_node.compiler.inspection import inspection
from sim_node.compiler.passes.pipeline import PASSES
from sim_node.errors import BuildError


@sn.func
def twice(x: float) -> float:
    return x + x


@sn.kernel
def scale(x: sn.array(dtype=float), y: sn.array(dtype=float)):
    i = sn.tid()
    y[i] = twice(x[i])


@sn.kernel
def gather(at: sn.array(dtype=int), y: sn.array(dtype=float)):
    i = sn.tid()
    n = 0
    while n < at[i]:
        n += 1
    sn.atomic_max(y, n, y[i])


@sn.func
def shared(n: int, among: int) -> int:
    return n // among


@sn.kernel
def halved(y: sn.array(dtype=int)):
    i = sn.tid()
    y[i] = shared(y[i], 2)


def test_each_pass_leaves_a_text():
    stages = inspection(scale).stages
    assert list(stages) == ["lower", *(change.__name__ for change in PASSES), "hoist", "llvm", "code"]
    assert "call" in stages["lower"]
    assert "call" not in stages["inline"]
    assert "define" in stages["llvm"]
    assert "kernel:" in stages["code"]


def test_guards_are_a_step_where_a_kernel_asks_for_them():
    guarded = sn.kernel(scale.function, guards="clamp")
    assert "guard" in inspection(guarded).stages
    assert "guard" not in inspection(scale).stages


def test_threads_in_lanes_and_checks_out_of_their_loop():
    found = inspection(scale)
    assert found.lanes > 1
    assert found.why == ()
    assert [(check.kind, check.subject, check.state) for check in found.checks] == [
        ("index", "x", "hoisted"),
        ("index", "y", "hoisted"),
    ]
    assert found.registers["vector"] > 0


def test_why_threads_are_not_in_lanes():
    found = inspection(gather)
    assert found.lanes == 1
    text = "\n".join(found.why)
    assert "an atomic operation is one thread's at a time" in text
    assert "the check of y (index) may stop any thread" in text
    assert "a loop runs for each thread as long as it needs" in text


def test_a_check_that_a_constant_or_one_before_passes_is_removed():
    found = inspection(halved).checks
    assert {check.state for check in found if check.kind == "division"} == {"removed"}
    # the second is of the same index and length
    assert [check.state for check in found if check.kind == "index"] == ["hoisted", "removed"]


@pytest.mark.parametrize("assembler", [True, False])
def test_a_gpu_gives_ptx_and_registers(monkeypatch, assembler):
    if not assembler:
        monkeypatch.setattr(inspected.shutil, "which", lambda _: None)
    found = inspection(scale, "sm_90")
    assert ".target sm_90" in found.stages["code"]
    assert {check.state for check in found.checks} == {"kept"}
    assert found.stack == 0
    assert all(count > 0 for count in found.registers.values())
    assert assembler or set(found.registers) >= {"virtual b32", "virtual b64"}


def test_a_target_that_there_is_not():
    with pytest.raises(BuildError, match="there is no target 'sm_9'"):
        inspection(scale, "sm_9")
