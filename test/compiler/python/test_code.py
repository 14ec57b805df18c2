"""What a user sees of a kernel on the device python: debuggers, other exceptions, places of faults."""

import enum
import sys
import threading
from typing import Any

import numpy as np
import pytest

import sim_node as sn
from sim_node.compiler.frontend import source
from sim_node.errors import KernelError


@sn.func
def halved(x: Any):
    return x / 2.0


@sn.func
def ratio(a: int, b: int) -> int:
    return a // b


class Gear(enum.IntEnum):
    SECOND = 2


@sn.func
def geared(x: int, *, by: int = 1, gear: int = Gear.SECOND) -> int:
    return (x | gear) * by


@sn.func
def shifted(x: int, gear: int = Gear.SECOND) -> int:
    return gear << x


@sn.kernel
def turning(x: sn.array(dtype=int)):
    i = sn.tid()
    x[i] = geared(x[i]) + shifted(x[i])


@sn.kernel
def work(x: sn.array(dtype=float), n: int):
    i = sn.tid()
    total = 0.0
    for _ in range(n):
        total += halved(x[i])
    x[i] = total


@sn.kernel
def dividing(x: sn.array(dtype=int), y: sn.array(dtype=int)):
    i = sn.tid()
    x[i] = ratio(x[i], y[i]) + ratio(y[i], x[i])


def traced(watch: Any, dim: int = 2) -> None:
    """Launch with a trace function, as debuggers and coverage set one."""
    sys.settrace(watch)
    try:
        sn.launch(work, dim, inputs=[np.ones(dim, np.float32), 2], device="python")
    finally:
        sys.settrace(None)


def lines_of(function: Any) -> set[int]:
    tree = source.source(function).tree
    return {node.lineno for statement in tree.body for node in [statement, *getattr(statement, "body", [])]}


def test_a_debugger_sees_each_line_of_the_file_and_the_variables() -> None:
    seen: dict[str, set[int]] = {"work": set(), "halved": set()}
    values = []

    def watch(at: Any, event: str, _: object) -> Any:
        if at.f_code.co_filename == __file__ and at.f_code.co_name in seen and event == "line":
            seen[at.f_code.co_name].add(at.f_lineno)
            values.append(dict(at.f_locals))
        return watch

    traced(watch)
    assert lines_of(work.function) <= seen["work"]
    assert lines_of(halved.function) <= seen["halved"]
    last = [found for found in values if "total" in found][-1]
    assert (last["i"], last["n"], last["total"]) == (1, 2, 1.0)
    assert type(last["total"]) is np.float32


class QuitError(Exception):
    """What a debugger raises to leave."""


def test_an_exception_of_a_debugger_ends_the_launch_and_the_next_one_runs() -> None:
    def watch(at: Any, event: str, _: object) -> Any:
        if at.f_code.co_name == "halved":
            raise QuitError
        return watch

    with pytest.raises(QuitError):
        traced(watch)
    x = np.ones(2, np.float32)
    sn.launch(work, 2, inputs=[x, 4], device="python")
    assert x.tolist() == [2.0, 2.0]


def test_a_fault_names_the_call_that_failed() -> None:
    told = []
    for device in ("cpu", "python"):
        x, y = np.array([7, 0, 1], np.int32), np.array([2, 3, 0], np.int32)
        with pytest.raises(KernelError) as caught:
            sn.launch(dividing, 3, inputs=[x, y], device=device)
        error = caught.value
        assert error.location is not None
        assert error.location.caller is not None
        places = error.location, error.location.caller
        if sys.version_info < (3, 11):  # it does not know in which column it is
            places = tuple(place.line for place in places)
        told.append((error.what, places, error.thread, x.tolist()))
    assert told[0] == told[1]
    assert told[0][2:] == (1, [3, 0, 1])


def test_a_default_that_is_an_enum_is_its_number() -> None:
    told = []
    for device in ("cpu", "python"):
        x = np.array([1, 4], np.int32)
        sn.launch(turning, 2, inputs=[x], device=device)
        told.append(x.tolist())
    assert told == [[3 + 4, 6 + 32]] * 2


def test_threads_of_the_process_may_run_it_at_once() -> None:
    arrays = [np.full(20, number, np.float32) for number in range(4)]
    threads = [
        threading.Thread(target=sn.launch, args=(work, 20), kwargs={"inputs": [x, 2], "device": "python"})
        for x in arrays
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [set(x.tolist()) for x in arrays] == [{0.0}, {1.0}, {2.0}, {3.0}]


def test_a_plan_runs_there_and_has_the_same_digest() -> None:
    digests, results = [], []
    for device in ("cpu", "python"):
        x = np.ones(3, np.float32)
        plan = sn.Plan(device)
        plan.launch(work, 3, inputs=[x, 3])
        plan.launch(work, (3,), inputs=[x, 3])
        plan.freeze()
        plan.run()
        digests.append(plan.digest)
        results.append(x.tolist())
    assert digests[0] == digests[1]
    assert results[0] == results[1] == [2.25] * 3


OUTER = 3


@sn.func
def by_type(x: Any):
    return x + x


@sn.func
def other(x: Any):
    return x * x


@sn.kernel
def several(x: sn.array(dtype=float), y: sn.array(dtype=sn.float64), z: sn.array(dtype=float)):
    i = sn.tid()
    for function in (by_type, other):
        z[i] += function(x[i])
    y[i] = by_type(y[i]) + sn.static(OUTER / 2)
    c = 1 if x[i] > 100.0 else 2.5
    w = by_type(3 if x[i] < 100.0 else 2.5)
    z[i] += c / 2 + w / 4


def test_calls_find_their_func_and_numbers_their_type() -> None:
    for device in ("cpu", "python"):
        x, y, z = np.full(2, 3.0, np.float32), np.full(2, 0.1), np.zeros(2, np.float32)
        sn.launch(several, 2, inputs=[x, y, z], device=device)
        assert y.tolist() == [0.2 + 1.5] * 2
        assert z.tolist() == [6.0 + 9.0 + 1.25 + 1.5] * 2


@sn.kernel
def searching(x: sn.array(dtype=int), y: sn.array(dtype=int)):
    i = sn.tid()
    for j in range(3):
        if x[i] == j:
            break
    else:
        y[i] = x[i]
    while y[i] > 5:
        y[i] -= 1
    else:
        y[i] += x[i]


def test_the_else_of_a_loop_is_rewritten_too() -> None:
    for device in ("cpu", "python"):
        x, y = np.arange(6, dtype=np.int32), np.zeros(6, np.int32)
        sn.launch(searching, 6, inputs=[x, y], device=device)
        assert y.tolist() == [0, 1, 2, 6, 8, 10]


@sn.kernel
def choosing(x: sn.array(dtype=sn.float64), y: sn.array(dtype=float)):
    i = sn.tid()
    x[i] = 9223372036854775807 % (5 if i == 0 else 0.5)
    v = sn.vector(3 if i == 0 else 2.5, 7)
    y[i] = v.x / 2.0 + sn.sqrt(4 if i == 0 else 0.25)


def test_a_choice_of_an_integer_and_a_float_keeps_its_digits_and_is_a_float() -> None:
    for device in ("cpu", "python"):
        x, y = np.zeros(2), np.zeros(2, np.float32)
        sn.launch(choosing, 2, inputs=[x, y], device=device)
        assert x.tolist() == [2.0, 0.0]
        assert y.tolist() == [3.5, 1.75]


@sn.struct
class Body:
    mass: float
    speed: sn.vec3


@sn.kernel
def runs_over_what_was(out: sn.array(dtype=float)):
    body = Body()
    other = body
    v = sn.vec3(1.0, 2.0, 3.0)
    for one in (other, body):
        body.mass += 1.0
        body.speed[0] += 2.0
        out[0] += one.mass + one.speed[0]
    for part in v:
        v[2] = 100.0
        v[1] += part
        out[1] += part


def test_what_a_loop_runs_over_changes_no_more() -> None:
    """Found by the fuzzer: a tuple held the variables themselves."""
    results = []
    for device in ("cpu", "python"):
        out = np.zeros(2, np.float32)
        sn.launch(runs_over_what_was, 1, inputs=[out], device=device)
        results.append(out.tolist())
    assert results == [[0.0, 6.0], [0.0, 6.0]]
