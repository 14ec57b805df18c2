import copy
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sim_node as sn
from sim_node.compiler.backend import host, llvm
from sim_node.compiler.ir.parser import parse
from sim_node.compiler.passes.pipeline import optimise
from sim_node.errors import KernelError

Ints, Floats = sn.array(dtype=int), sn.array(dtype=float)

# y[i] = a * x[i] + y[i]
SAXPY = """
kernel @saxpy(f32 %a, array<f32> %x, array<f32> %y) {
b0:
  %i = tid i32 {0}
  %n = extract i32 %x {1}
  %at = bounds i32 %i, %n {0}
  %v_p = extract ptr %x {0}
  %v_o = offset ptr %v_p, %at {4}
  %v = load f32 %v_o {0}
  %m = extract i32 %y {1}
  %to = bounds i32 %i, %m {1}
  %w_p = extract ptr %y {0}
  %w_o = offset ptr %w_p, %to {4}
  %w = load f32 %w_o {0}
  %p = mul f32 %a, %v
  %s = add f32 %p, %w
  %s1_p = extract ptr %y {0}
  %s1_o = offset ptr %s1_p, %to {4}
  store %s1_o, %s {0}
  return
}
"""

# y[at[i]] = i, where no at may be 7
SCATTER = """
kernel @scatter(array<i32> %at, array<i32> %y) {
b0:
  %i = tid i32 {0}
  %n = extract i32 %at {1}
  %j = bounds i32 %i, %n {0}
  %k_p = extract ptr %at {0}
  %k_o = offset ptr %k_p, %j {4}
  %k = load i32 %k_o {0}
  %seven = const i32 {7}
  %ok = ne bool %k, %seven
  check %ok {1}
  %m = extract i32 %y {1}
  %to = bounds i32 %k, %m {2}
  %s2_p = extract ptr %y {0}
  %s2_o = offset ptr %s2_p, %to {4}
  store %s2_o, %i {0}
  return
}
"""


@pytest.mark.parametrize("opt_level", [0, 3])
def test_a_range_runs_its_threads_and_no_other(execute, opt_level):
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    assert execute(SAXPY, 90, 2.0, x, y, begin=3, opt_level=opt_level).code == 0
    want = np.ones(100, np.float32)
    want[3:90] += 2 * x[3:90]
    np.testing.assert_array_equal(y, want)
    assert execute(SAXPY, 3, 2.0, x, y, begin=3, opt_level=opt_level).code == 0
    np.testing.assert_array_equal(y, want)


@pytest.mark.parametrize("opt_level", [0, 3])
@pytest.mark.parametrize("begin", [0, 40, 70])
def test_the_first_thread_out_of_bounds_stops_the_range(execute, opt_level, begin):
    x, y = np.ones(64, np.float32), np.zeros(80, np.float32)
    stop = execute(SAXPY, 80, 2.0, x, y, begin=begin, opt_level=opt_level)
    first = max(begin, 64)
    assert (stop.code, stop.site, stop.thread, stop.index, stop.length) == (1, 0, first, first, 64)
    np.testing.assert_array_equal(y, [2.0 if begin <= i < 64 else 0.0 for i in range(80)])


@pytest.mark.parametrize("opt_level", [0, 3])
def test_an_index_or_a_check_that_fails_in_the_middle(execute, opt_level):
    at, y = np.arange(50, dtype=np.int32), np.full(50, -1, np.int32)
    at[7], at[30], at[40] = 0, -2, 99
    stop = execute(SCATTER, 50, at, y, opt_level=opt_level)
    assert (stop.code, stop.site, stop.thread, stop.index, stop.length) == (1, 2, 30, -2, 50)
    np.testing.assert_array_equal(y[31:], -1)
    np.testing.assert_array_equal(y[1:30], [i if i != 7 else -1 for i in range(1, 30)])
    at[20] = 7
    stop = execute(SCATTER, 50, at, y, opt_level=opt_level)
    assert (stop.code, stop.site, stop.thread, stop.index, stop.length) == (1, 1, 20, 0, 0)


def test_an_error_that_is_set_stays(execute):
    """The block of a launch is filled once: by its first failing thread."""
    module = optimise(parse(SAXPY))
    assert host.module(module.entry).count("cmpxchg ptr %error, i32 0, i32 1") == 1


def test_arrays_may_be_one_array(execute):
    x = np.arange(64, dtype=np.float32)
    assert execute(SAXPY, 64, 3.0, x, x).code == 0
    np.testing.assert_array_equal(x, np.arange(64) * 4)


def test_threads_run_in_the_lanes_of_vectors(execute):
    """The checks of arrays indexed by thread leave the loop, or LLVM would not vectorise it."""
    text = llvm.optimised_text(host.module(optimise(parse(SAXPY)).entry))
    assert "fmul <" in text
    assert re.search(r"call .*@stop\(", text)


@sn.kernel
def gather(x: Floats, at: Ints, y: Floats):
    i = sn.tid()
    y[i] = x[at[i]] * 2.0


@sn.kernel
def chain(x: Floats, at: Ints, y: Floats):
    i = sn.tid()
    y[i] = 1.0
    if at[i] != 3:
        y[i] = x[at[at[i]]]


@sn.kernel
def scatter(x: Floats, at: Ints, y: Floats):
    i = sn.tid()
    y[at[i]] = x[i]


def outcome(kernel, dim, args, device):
    given_args = copy.deepcopy(args)
    try:
        sn.launch(kernel, dim, inputs=given_args, device=device)
        told = ""
    except KernelError as error:
        told = str(error)[: str(error).rindex("launched")]
    return told, [np.asarray(arg).tobytes() for arg in given_args]


@settings(max_examples=40)
@given(
    st.sampled_from((gather, chain, scatter)),
    st.integers(0, 700),
    st.lists(st.tuples(st.integers(0, 700), st.sampled_from((-1, -(2**31), 2**31 - 1, 700, 0, 3))), max_size=3),
    st.integers(0, 2**32 - 1),
)
def test_a_bad_index_stops_the_first_of_its_threads_and_all_behind_it(kernel, dim, bad, seed):
    random = np.random.default_rng(seed)
    size = dim + int(random.integers(0, 3))
    at = random.permutation(size).astype(np.int32)
    for place, value in bad:
        at[place : place + 1] = value
    args = [random.normal(size=size).astype(np.float32), at, np.full(size, 9, np.float32)]
    assert outcome(kernel, dim, args, "python") == outcome(kernel, dim, args, "cpu")
