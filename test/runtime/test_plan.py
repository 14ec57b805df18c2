import gc
import sys
import threading
import tracemalloc
import weakref
from functools import partial
from itertools import pairwise, repeat
from pathlib import Path

import numpy as np
import pytest

from sim_node import _native, dtypes
from sim_node.errors import KernelError, LaunchError
from sim_node.runtime.cell import Cell
from sim_node.runtime.creation import array, zeros
from sim_node.runtime.element import native
from sim_node.runtime.plan import Plan


def frozen(*launches):
    plan = Plan()
    for launch in launches:
        plan.launch(*launch)
    plan.freeze()
    return plan


def test_launches_run_in_order_each_time(kernels):
    x, y, z = array([1.0, 2.0]), zeros(2), np.zeros(2, np.float32)
    plan = frozen((kernels.copy, 2, [x], [y]), (kernels.copy, (1,), [y], [z]))
    assert not y.numpy().any()
    plan.run()
    assert y.numpy().tolist() == [1, 2]
    assert z.tolist() == [1, 0]
    x.fill_(5)
    plan.run()
    assert z.tolist() == [5, 0]


def test_cells_point_where_they_are_told_before_each_run(kernels):
    value, following = Cell(float, 2), Cell(float, 2)
    plan = frozen((kernels.copy, 2, [value], [following]), (kernels.copy, 1, [following], [value]))
    assert plan.cells == (value, following)
    first, second = array([1.0, 2.0]), zeros(2)
    for a, b in ((first, second), (second, first), (first, second)):
        plan.point(value, a)
        plan.point(following, b)
        a.assign([3.0, 4.0])
        b.zero_()
        plan.run()
        assert b.numpy().tolist() == [3, 4]


def test_arguments_are_checked_when_recorded_and_a_refused_launch_leaves_no_trace(kernels):
    plan, cell = Plan(), Cell(int, 1)
    with pytest.raises(LaunchError, match=r"kernel 'copy': argument 'y' expects array<f32> but got a cell of i32"):
        plan.launch(kernels.copy, 1, [zeros(1)], [cell])
    with pytest.raises(LaunchError, match="dim is an int"):
        plan.launch(kernels.copy, -1, [zeros(1)], [zeros(1)])
    with pytest.raises(LaunchError, match="cannot reach all of it"):
        plan.launch(kernels.copy, 1, [Cell(float, 2**31)], [zeros(1)])
    assert (plan.cells, plan.launches, plan.images()) == ((), [], [])
    plan.freeze()
    plan.run()


def test_states_that_forbid_an_act_say_so(kernels):
    plan, cell = Plan(), Cell(float, 1)
    plan.launch(kernels.copy, 1, [cell], [zeros(1)])
    with pytest.raises(LaunchError, match=r"call Plan.freeze\(\) once before it runs"):
        plan.run()
    plan.freeze()
    with pytest.raises(LaunchError, match="the plan is frozen and takes no more launches"):
        plan.launch(kernels.copy, 1, [cell], [zeros(1)])
    with pytest.raises(LaunchError, match="cell 0 of the plan has no address"):
        plan.run()
    with pytest.raises(LaunchError, match="the plan has no such cell"):
        plan.point(Cell(float, 1), zeros(1))
    for wrong in (zeros(2), zeros(1, int), zeros((1, 1)), [1.0], cell, array(np.frombuffer(b"1234", "f4"), copy=False)):
        with pytest.raises(LaunchError, match=r"cell 0 of shape \(1,\) expects array<f32> but got"):
            plan.point(cell, wrong)


def test_a_fault_names_the_line_that_recorded_the_launch_and_stops_the_plan(kernels):
    last = zeros(2)
    plan = Plan()
    plan.launch(kernels.copy, 1, [zeros(1)], [zeros(1)])
    plan.launch(kernels.copy, 5, [zeros(5)], [zeros(4)])
    line = sys._getframe().f_lineno - 1
    plan.launch(kernels.copy, 2, [array([1.0, 1.0])], [last])
    plan.freeze()
    with pytest.raises(KernelError, match="index 4 is outside array 'x' of length 4") as caught:
        plan.run()
    assert caught.value.launch.startswith(f"{Path(__file__)}:{line} in test_a_fault")
    assert not last.numpy().any()


def test_the_plan_keeps_its_arrays_and_gives_them_back(kernels):
    class Owner(np.ndarray):
        pass

    source, target, cell = Owner((2,), "f4"), Owner((2,), "f4"), Cell(float, 2)
    watched = [weakref.ref(source), weakref.ref(target)]
    source[:] = 7
    plan = frozen((kernels.copy, 2, [source], [cell]))
    plan.point(cell, target)
    del source, target
    gc.collect()
    plan.run()
    assert watched[1]().tolist() == [7, 7]
    plan.point(cell, zeros(2))
    assert watched[1]() is None
    plan.launches.append(plan)  # a cycle
    del plan
    gc.collect()
    assert watched[0]() is None


def test_a_digest_tells_plans_apart_by_what_they_do_and_not_by_address(kernels):
    def plan(dim=2, k=1.0, length=2, shared=True, cells=False, order=False):
        x, v = zeros(length), zeros(length)
        value = Cell(float, length) if cells else x
        launches = [(kernels.step, dim, [value, v, k, 0.0, 0.5]), (kernels.copy, dim, [x if shared else v, v])]
        return frozen(*reversed(launches) if order else launches).digest

    same, variants = plan(), [
        plan(dim=1), plan(k=2.0), plan(length=3), plan(shared=False), plan(cells=True), plan(order=True)
    ]  # fmt: skip
    assert len(same) == 64
    assert same == plan()
    assert len({same, *variants}) == 1 + len(variants)


def test_a_digest_knows_the_addresses_inside_structs_and_lists_by_their_order(echo, twice):
    struct = dtypes.Struct("Body", (("x", dtypes.ArrayType(dtypes.float32, 1, "strided")), ("n", dtypes.int32)))
    kernel = echo(("s", struct))

    def plan(shared=False, n=1, step=2):
        part, out = zeros(4)[::step], zeros(1, dtypes.uint64)
        other = part if shared else zeros(4)[::step]
        grid = zeros((2, 2))
        launches = [(kernel, 0, [out, (part, n)]), (kernel, 0, [out, (other, n)]), (twice.kernel, (1, 2), [grid[[1]]])]
        return frozen(*launches).digest

    digests = [plan(), plan(shared=True), plan(n=2), plan(step=1)]
    assert plan() == digests[0]
    assert len(set(digests)) == 4


def test_a_digest_does_not_change_when_the_plan_runs(kernels):
    cell = Cell(float, 2)
    plan = frozen((kernels.copy, 2, [cell], [zeros(2)]))
    before = plan.digest
    plan.point(cell, zeros(2))
    plan.run()
    assert plan.digest == before


def peak(act, times=1000):
    """The most memory that Python's allocators held during the calls beyond what they hold after."""
    tracemalloc.start()
    try:
        calls = repeat(None, times)
        tracemalloc.reset_peak()
        for _ in calls:
            act()
        held, most = tracemalloc.get_traced_memory()
        return most - held
    finally:
        tracemalloc.stop()


def test_a_run_allocates_nothing(kernels):
    cell = Cell(float, 1)
    plan = frozen(*[(kernels.step, 1, [zeros(1), cell, 1.0, 0.5, 0.1])] * 20)
    plan.point(cell, zeros(1))
    assert peak(partial(_native.Plan.images, plan)) > 1000  # the measure sees what is freed again
    assert peak(partial(_native.Plan.run, plan)) == 0


def test_a_run_of_parts_allocates_nothing_either(twice):
    plan = frozen((twice.kernel, (2, 2), [zeros((4, 4))[::2, ::2]]), (twice.kernel, (1, 2), [zeros((4, 2))[[3]]]))
    assert peak(partial(_native.Plan.run, plan)) == 0


def test_the_memory_of_indices_and_of_structs_is_kept(echo, twice):
    values = np.ones((2, 2), "f4")
    plan = frozen((twice.kernel, (1, 2), [array(values, copy=False)[[1]]]))
    del values
    gc.collect()
    plan.run()
    struct = dtypes.Struct("Body", (("x", dtypes.ArrayType(dtypes.float32, 1, "strided")),))
    part, kernel = zeros(4)[::2], echo(("s", struct))
    counts = sys.getrefcount(part)
    plan = frozen((kernel, 0, [zeros(1, dtypes.uint64), (part,)]))
    assert sys.getrefcount(part) == counts + 1
    del plan
    assert sys.getrefcount(part) == counts


def test_runs_leave_no_reference(kernels):
    x, y = zeros(1), zeros(1)
    plan = frozen((kernels.copy, 1, [x], [y]))
    counts = [sys.getrefcount(item) for item in (x, y, plan)]
    for _ in range(100_000):
        plan.run()
    assert [sys.getrefcount(item) for item in (x, y, plan)] == counts


def test_one_plan_is_run_by_one_thread_at_a_time(kernels):
    """The kernel waits for a store that is made once the second run and the pointing were refused."""
    cell = Cell(int, 1 << 17)
    flag = zeros(1 << 17, int)
    plan = frozen((kernels.wait, 1 << 17, [cell, 1 << 34]))
    plan.point(cell, flag)
    running = threading.Thread(target=plan.run)
    running.start()

    def point_while_it_runs():
        while running.is_alive():
            plan.point(cell, flag)

    with pytest.raises(LaunchError, match="run by another thread"):
        point_while_it_runs()
    with pytest.raises(LaunchError, match="run by another thread"):
        plan.run()
    flag.numpy()[0] = 1
    running.join()
    assert flag[0] == 2


def test_many_cells_keep_their_numbers(kernels):
    cells = [Cell(float, 1) for _ in range(40)]
    plan = frozen(*((kernels.copy, 1, [a], [b]) for a, b in pairwise(cells)))
    places = [zeros(1) for _ in cells]
    for cell, place in zip(cells, places):
        plan.point(cell, place)
    places[0].fill_(9)
    plan.run()
    assert plan.cells == tuple(cells)
    assert [place[0] for place in places] == [9] * 40


def test_an_entry_s_parameters_are_checked():
    element = native(dtypes.float32)
    for params, fault in (
        ((("x", 5, 0, element, False),), "5 dimensions"),
        ((("x", 1, 3, element, False),), "layout 3"),
        ((3,), "a parameter"),
        ((("x", 1, 0, 5, False),), "Element"),
    ):
        with pytest.raises((ValueError, TypeError), match=fault):
            _native.Entry(0, params, 0, None)
    with pytest.raises(ValueError, match="more than the 32768 bytes"):
        _native.Entry(0, (("x", 1, 0, element, False),) * 2049, 0, None)
