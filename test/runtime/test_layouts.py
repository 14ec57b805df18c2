"""Compiled kernels on arrays of every layout, number of dimensions and element type, against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sim_node as sn
from sim_node import dtypes
from sim_node.dtypes import ArrayType, Matrix, Struct
from sim_node.errors import KernelError, LaunchError
from sim_node.runtime.plan import Plan

_BODY = (("p", dtypes.vec3f), ("n", dtypes.int8), ("h", dtypes.float16), ("m", Matrix(dtypes.float32, 2, 2)))
BODY = Struct("Body", _BODY)
VIEW = Struct("View", (("scale", dtypes.float32), ("x", ArrayType(dtypes.float32, 2, "strided"))))
OUTER = Struct("Outer", (("on", dtypes.bool_), ("inner", VIEW), ("n", dtypes.int64)))


@pytest.fixture(autouse=True, scope="module")
def cache_of_its_own(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIM_NODE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@sn.kernel
def number1(x: sn.array(dtype=float)):
    i = sn.tid()
    x[i] = x[i] + float(i)


@sn.kernel
def number2(x: sn.array2d(dtype=float)):
    i, j = sn.tid()
    x[i, j] = x[i, j] + float(10 * i + j)


@sn.kernel
def number3(x: sn.array3d(dtype=float)):
    i, j, k = sn.tid()
    x[i, j, k] = x[i, j, k] + float(100 * i + 10 * j + k)


@sn.kernel
def number4(x: sn.array4d(dtype=float)):
    i, j, k, m = sn.tid()
    x[i, j, k, m] = x[i, j, k, m] + float(1000 * i + 100 * j + 10 * k + m)


NUMBER = {1: number1, 2: number2, 3: number3, 4: number4}


def numbered(shape):
    """What the kernels add: the indices as digits."""
    return sum(np.indices(shape)[d] * 10 ** (len(shape) - 1 - d) for d in range(len(shape))).astype("f4")


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.data())
def test_parts_of_any_shape(shape, data):
    values = np.arange(np.prod(shape, dtype=int), dtype="f4").reshape(shape)
    wanted, made = values.copy(), sn.array(values, copy=False)
    key = tuple(data.draw(st.slices(n)) for n in shape)
    order = data.draw(st.permutations(range(len(shape))))
    part, wanted_part = made[key].transpose(order), wanted[key].transpose(order)
    sn.launch(NUMBER[len(shape)], part.shape, [part])
    wanted_part += numbered(part.shape)
    assert np.array_equal(values, wanted)
    sn.launch(NUMBER[len(shape)], part.shape, [values[key].transpose(order)])
    wanted_part += numbered(part.shape)
    assert np.array_equal(values, wanted)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_indexed_elements_of_any_shape(shape, data):
    """Every index once, since threads have no order."""
    values = np.arange(np.prod(shape), dtype="f4").reshape(shape)
    wanted = values.copy()
    lists = [data.draw(st.none() | st.lists(st.integers(0, n - 1), unique=True)) for n in shape]
    chosen = sn.indexedarray(sn.array(values, copy=False), lists)
    sn.launch(NUMBER[len(shape)], chosen.shape, [chosen])
    grid = np.ix_(*[np.arange(n) if one is None else np.array(one, int) for one, n in zip(lists, shape)])
    wanted[grid] += numbered(chosen.shape)
    assert np.array_equal(values, wanted)


@sn.kernel
def given_values(s: OUTER, m: dtypes.mat22f, t: dtypes.transformf, q: dtypes.quatf, c: dtypes.uint16, h: dtypes.float16,
                 out: sn.array(dtype=float)):  # fmt: skip
    i, j = sn.tid()
    if s.on:
        s.inner.x[i, j] = s.inner.x[i, j] * s.inner.scale
    out[0] = m[1, 0] + t[6] + q[3]
    out[1] = float(c) + float(h) + float(s.n)


def test_structs_and_composites_are_passed_by_value():
    values, out = np.arange(12, dtype="f4").reshape(3, 4), sn.zeros(2)
    part = sn.array(values, copy=False)[::2].transpose()
    rest = [((1, 2), (3, 4)), ((1, 2, 3), (0, 0, 0, 5)), (0, 0, 0, 7), 65535, np.float16(0.5), out]
    sn.launch(given_values, part.shape, [(True, (2.0, part), -(2**40)), *rest])
    assert values.tolist() == [[0, 2, 4, 6], [4, 5, 6, 7], [16, 18, 20, 22]]
    assert out.list() == [15, np.float32(65535.5 - 2**40)]
    plan = Plan()
    plan.launch(given_values, part.shape, [(True, (0.5, part), 0), *rest])
    plan.launch(given_values, (1, 1), [(False, (9.0, part), 0), np.eye(2), *rest[1:]])
    plan.freeze()
    del part
    plan.run()
    assert values.tolist() == np.arange(12).reshape(3, 4).tolist()
    assert out.list() == [12, 65535.5]


@sn.kernel
def move(bodies: sn.array(dtype=BODY), by: BODY):
    i = sn.tid()
    body = bodies[i]
    body.p = body.p + by.p
    body.n = sn.int8(7)
    body.m = by.m
    bodies[i] = body


def test_structs_in_arrays_are_numpy_s_records():
    bodies = sn.zeros((2, 3), BODY)
    bodies[1, 2] = ((1, 2, 3), 4, 0.5, ((1, 2), (3, 4)))
    by = bodies.numpy()[1, 2]
    sn.launch(move, 2, [bodies[:, 1], by])
    seen = bodies.numpy()
    assert seen["p"][:, 1].tolist() == [[1, 2, 3]] * 2
    assert seen["n"].tolist() == [[0, 7, 0], [0, 7, 4]]
    assert seen["m"][0, 1].tolist() == [[1, 2], [3, 4]]
    assert not seen["h"][:, :2].any()
    records = np.zeros(2, bodies.numpy().dtype)
    sn.launch(move, 2, [records, by])
    assert records["p"].tolist() == [[1, 2, 3]] * 2
    assert np.shares_memory(sn.array(records, BODY, copy=False).numpy(), records)


def test_a_grid_of_more_threads_than_an_i32_counts():
    """All of the threads but a few lie outside of the array, so the launch stops at once: at the first of them."""
    x = sn.zeros((2**16, 1))
    with pytest.raises(KernelError) as caught:
        sn.launch(number2, (2**16, 2**16), [x])
    assert caught.value.thread == (0, 1)
    with pytest.raises(LaunchError, match=r"gives 2 coordinates, and dim=4 has 1; write dim=\(n, m\)"):
        sn.launch(number2, 4, [x])


@pytest.mark.parametrize(("shape", "dim", "said"), [
    ((2, 3), (3, 3), "index 2 is outside dimension 0 of array 'x', whose extent is 2"),
    ((2, 3), (2, 4), "index 3 is outside dimension 1 of array 'x', whose extent is 3"),
])  # fmt: skip
def test_a_fault_names_the_dimension(shape, dim, said):
    for x in (sn.zeros(shape), sn.zeros(shape[::-1]).transpose()):
        with pytest.raises(KernelError, match=said):
            sn.launch(number2, dim, [x])


def test_empty_arrays_and_grids_are_fine():
    for shape in ((0,), (0, 3), (2, 0, 4), (1, 1, 1, 0)):
        sn.launch(NUMBER[len(shape)], shape, [sn.zeros(shape)])
        sn.launch(NUMBER[len(shape)], shape, [sn.ones([n + 1 for n in shape])])
    with pytest.raises(KernelError, match="outside array 'x' of length 0"):
        sn.launch(number1, 1, [sn.zeros(0)])


def test_a_struct_made_in_a_kernel_takes_an_array_however_it_lies():
    @sn.struct
    class Pair:
        data: sn.array(dtype=sn.int32, ndim=2)
        other: sn.int32

    @sn.func
    def made(data: sn.array(dtype=sn.int32, ndim=2)):
        pair = Pair(data, 5)
        pair.data = data
        return pair

    @sn.kernel
    def read(data: sn.array(dtype=sn.int32, ndim=2), out: sn.array(dtype=sn.int32)):
        i, j = sn.tid()
        pair = made(data)
        out[i * 4 + j] = pair.data[i, j] + pair.other

    values = np.arange(12, dtype=np.int32).reshape(3, 4)
    for data in (values, np.asfortranarray(values), np.repeat(values, 2, axis=1)[:, ::2]):
        out = np.zeros(12, np.int32)
        sn.launch(read, (3, 4), inputs=[data], outputs=[out])
        assert out.tolist() == [*range(5, 17)]
