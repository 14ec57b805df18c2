import functools
import gc
import sys
import threading
import tracemalloc
from pathlib import Path
from struct import pack as struct_bytes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_node import _native, dtypes
from sim_node.errors import DeviceError, KernelError, LaunchError
from sim_node.runtime.creation import array, zeros
from sim_node.runtime.launch import Launch, launch
from sim_node.runtime.plan import Plan

FORMATS = {
    "bool": "?", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q",
    "f16": "e", "f32": "f", "f64": "d",
}  # fmt: skip
ELEMENTS = [*dtypes.SCALARS, *(dtypes.Vector(scalar, n) for scalar in dtypes.SCALARS[1:] for n in (2, 3, 4))]
PARAMS = st.lists(st.sampled_from(ELEMENTS), max_size=8)


def value_of(draw, scalar):
    if scalar.is_float:
        return draw(st.floats(width=scalar.bits) | st.integers(-1000, 1000))
    if scalar is dtypes.bool_:
        return draw(st.booleans())
    limits = np.iinfo(scalar.numpy)
    return draw(st.integers(int(limits.min), int(limits.max)))


@given(PARAMS, st.data())
def test_values_reach_the_argument_block_as_the_abi_says(echo, params, data):
    values = []
    for element in params:
        parts = [value_of(data.draw, element.scalar) for _ in range(element.length)]
        values.append(parts[0] if element.length == 1 else data.draw(st.sampled_from([tuple, list]))(parts))
    packed = b""
    for element, value in zip(params, values):
        packed += bytes(-len(packed) % element.scalar.size)
        packed += struct_bytes(
            f"<{element.length}{FORMATS[element.scalar.name]}", *(value if element.length > 1 else [value])
        )
    words = 2 + -(-len(packed) // 8)
    out = zeros(words, dtypes.uint64)
    launch(echo(*((f"p{i}", element) for i, element in enumerate(params))), dim=1, inputs=[out, *values])
    assert out.numpy()[:2].tolist() == [out.ptr, words]
    assert out.numpy()[2:].tobytes()[: len(packed)] == packed


def test_structs_and_strided_arrays_reach_the_argument_block_as_the_abi_says(echo):
    struct = dtypes.Struct(
        "Body", (("flag", dtypes.bool_), ("x", dtypes.ArrayType(dtypes.float32, 2, "strided")), ("v", dtypes.vec3))
    )
    grid = dtypes.ArrayType(dtypes.float32, 3, "strided")
    part, cube = zeros((4, 6))[::2, 1::3], zeros((2, 3, 4)).transpose()
    out = zeros(16, dtypes.uint64)
    kernel = echo(("first", dtypes.bool_), ("s", struct), ("g", grid), ("x", dtypes.ArrayType(dtypes.float32, 4)))
    flat = zeros((2, 3, 1, 5))
    launch(kernel, 1, [out, True, (True, part, (1, 2, 3)), cube, flat])
    packed = struct_bytes("<?7x", True) + struct_bytes("<?7xQ2i2q3f4x", True, part.ptr, 2, 2, 48, 12, 1, 2, 3)
    packed += struct_bytes("<Q3i4x3q", cube.ptr, 4, 3, 2, 4, 16, 48) + struct_bytes("<Q4i", flat.ptr, 2, 3, 1, 5)
    assert out.numpy().tobytes()[16 : 16 + len(packed)][: 14 * 8] == packed[: 14 * 8]


NUMPY_SCALARS = [
    (dtypes.bool_, np.True_),
    (dtypes.int32, np.int64(-5)),
    (dtypes.uint32, np.uint8(200)),
    (dtypes.uint64, np.uint64(2**64 - 1)),
    (dtypes.float32, np.float64(0.1)),
    (dtypes.float64, np.float16(0.5)),
    (dtypes.float32, np.int32(7)),
    (dtypes.vec3, np.array([1.0, 2.0, 3.0])),
    (dtypes.vec2i, np.array([1, 2], np.int8)),
    (dtypes.vec3, dtypes.vec3(1, 2, 3)),
]


@pytest.mark.parametrize(("element", "value"), NUMPY_SCALARS)
def test_numpy_scalars_and_vectors_are_taken(echo, element, value):
    out = zeros(2 + -(-element.size // 8), dtypes.uint64)
    launch(echo(("p", element)), 1, [out, value])
    assert out.numpy()[2:].tobytes()[: element.size] == np.asarray(value).astype(element.numpy).tobytes()


REFUSED = [
    *[("kind", dtypes.bool_, value) for value in (1, 0.0, None, "yes")],
    *[
        ("kind", dtypes.int32, value)
        for value in (1.0, True, np.True_, np.float32(1), "1", None, np.timedelta64(1, "s"))
    ],
    *[("kind", dtypes.float32, value) for value in (True, np.True_, "1", None, 1j, np.complex64(1), np.array([1.0]))],
    *[("kind", dtypes.vec3, value) for value in (1.0, None, "abc", b"abc", {1, 2, 3}, (1, 2, "3"), (1, 2, True))],
    *[("range", dtypes.int32, value) for value in (2**31, -(2**31) - 1, 10**30, np.int64(2**40))],
    *[("range", dtypes.uint32, value) for value in (-1, 2**32)],
    *[("range", dtypes.int64, value) for value in (2**63, -(2**63) - 1)],
    *[("range", dtypes.uint64, value) for value in (-1, 2**64)],
    *[("range", dtypes.float32, value) for value in (1e39, -1e300, 10**39, np.float64(1e39))],
    ("range", dtypes.float64, 10**400),
    *[("length", dtypes.vec3, value) for value in ((1, 2), [1, 2, 3, 4], np.zeros(2), ())],
]


@pytest.mark.parametrize(("reason", "element", "value"), REFUSED, ids=lambda value: repr(value)[:30])
def test_a_value_that_does_not_fit_is_refused(echo, reason, element, value):
    out = zeros(8, dtypes.uint64)
    with pytest.raises(_native.Refusal) as caught:
        _native.launch(echo(("p", element)).entry, 1, [out, value], [])
    assert caught.value.args == (1, reason)
    assert not out.numpy().any()


def test_arrays_and_numpy_arrays_are_the_kernel_s_memory(kernels):
    x, v = array([1.0, 2.0]), np.zeros(2, np.float32)
    launch(kernels.step, dim=2, inputs=[x, v, 10, 0.0], outputs=(0.5,))
    assert v.tolist() == [-5, -10]
    assert x.numpy().tolist() == [-1.5, -3]


@pytest.mark.parametrize("dim", [0, 2, (2,), [2], np.int64(2)])
def test_dim_counts_threads(kernels, dim):
    x, y = array([1.0, 2.0, 3.0]), zeros(3)
    launch(kernels.copy, dim, [x], [y])
    threads = int(np.ravel(dim)[0])
    assert y.numpy().tolist() == [1.0, 2.0, 3.0][:threads] + [0] * (3 - threads)


@pytest.mark.parametrize(
    "dim", [-1, 2**31, 10**30, 1.0, True, None, (), (1,) * 5, (1, -1), (2**30,) * 3, (1, "1"), "1"]
)
def test_any_other_dim_is_refused(kernels, dim):
    with pytest.raises(LaunchError, match="kernel 'copy': dim is an int from 0 to 2147483647"):
        launch(kernels.copy, dim, [zeros(1)], [zeros(1)])


def test_empty_arrays_are_fine(kernels):
    launch(kernels.copy, 0, [np.zeros(0, "f4")], [zeros(0)])


BYTES = np.zeros(13, np.uint8)
MISFITS = [
    ("kind", [1.0, 2.0]),
    ("kind", 1.0),
    ("dtype", np.zeros(3)),
    ("dtype", np.zeros(3, ">f4")),
    ("dtype", zeros(3, int)),
    ("dtype", zeros(3, dtypes.vec3)),
    ("dtype", b"1234"),
    ("shape", np.zeros((3, 3), np.float32)),
    ("shape", np.float32(1)),
    ("shape", zeros((3, 3))),
    ("layout", np.zeros(6, np.float32)[::2]),
    ("layout", zeros(6)[::2]),
    ("layout", zeros(6)[[1]]),
    ("alignment", BYTES[1:].view(np.float32)),
]


def test_none_is_an_array_of_no_elements_where_nothing_is_written(echo):
    out = np.full(4, 7, np.uint64)
    launch(echo(("p", dtypes.ArrayType(dtypes.vec3, 2))), 1, [out, None])
    assert not out[2:].any()
    with pytest.raises(LaunchError):
        launch(echo(("p", dtypes.ArrayType(dtypes.vec3))), 1, [out], [None])


@pytest.mark.parametrize(("reason", "value"), MISFITS, ids=lambda value: str(value)[:20])
def test_memory_that_does_not_fit_is_refused(kernels, reason, value):
    with pytest.raises(_native.Refusal) as caught:
        _native.launch(kernels.copy.entry, 1, [value], [zeros(1)])
    assert caught.value.args == (0, reason)


def test_a_vector_parameter_s_memory_has_the_components_as_last_axis(echo):
    out = zeros(4, dtypes.uint64)
    launch(echo(("p", dtypes.ArrayType(dtypes.vec3))), 1, [out, np.zeros((5, 3), np.float32)])
    assert out[3] == 5
    for value in (np.zeros((5, 4), "f4"), np.zeros(15, "f4")):
        with pytest.raises(LaunchError, match=r"pass one whose numpy shape is \(n, 3\)"):
            launch(echo(("p", dtypes.ArrayType(dtypes.vec3))), 1, [out, value])


def test_read_only_memory_is_read_but_never_written(kernels, echo):
    locked = np.zeros(2, np.float32)
    locked.flags.writeable = False
    launch(kernels.copy, 2, [locked], [zeros(2)])
    for value in (locked, array(locked, copy=False)):
        with pytest.raises(LaunchError, match=r"argument 'y'.*the kernel writes it, and it is read-only"):
            launch(kernels.copy, 2, [zeros(2), value])
    out = zeros(4, dtypes.uint64)
    with pytest.raises(LaunchError, match=r"argument 'p'.*read-only"):
        launch(echo(("p", dtypes.ArrayType(dtypes.float32))), 1, [out], [locked])


def test_a_fault_names_kernel_source_thread_and_launch(kernels):
    x, y = zeros(5), zeros(3)
    with pytest.raises(KernelError) as caught:
        launch(kernels.copy, 5, [x], [y])
    assert caught.value.thread == 3
    assert caught.value.kernel == "copy"
    line = caught.tb.tb_lineno
    assert caught.value.launch == f"{Path(__file__)}:{line} in test_a_fault_names_kernel_source_thread_and_launch"
    assert "kernels.py:7:5: index 3 is outside array 'x' of length 3 in kernel 'copy', thread 3" in str(caught.value)


def test_an_unknown_device_is_refused(kernels):
    launch(kernels.copy, 0, [zeros(1)], [zeros(1)], device="cpu")
    with pytest.raises(DeviceError):
        launch(kernels.copy, 0, [zeros(1)], [zeros(1)], device="cuda:99")


class Shrinks(np.int64):
    """A number whose conversion empties the list that it stands in."""

    def __index__(self):
        self.home.clear()
        gc.collect()
        return 1


def test_a_list_that_changes_while_it_is_read_is_refused(echo):
    inputs = [zeros(4, dtypes.uint64)]
    number = Shrinks(1)
    number.home = inputs
    inputs += [number, 2]
    with pytest.raises(_native.Refusal) as caught:
        _native.launch(echo(("a", dtypes.int32), ("b", dtypes.int32)).entry, 1, inputs, [])
    assert caught.value.args == (2, "count")


def test_a_long_launch_lets_other_threads_run(kernels):
    """The kernel waits for a store that only another Python thread makes."""
    flag = zeros(1 << 17, int)
    waiting = threading.Thread(target=launch, args=(kernels.wait, len(flag), [flag, 1 << 34]))
    waiting.start()
    flag.numpy()[0] = 1
    waiting.join(60)
    assert flag[0] == 2


def test_two_threads_launch_one_kernel(kernels):
    """Different arguments at once, with the interpreter given up: each launch sees its own block."""
    size, rounds = 1 << 16, 40
    sources = [array(np.full(size, n, np.float32)) for n in (1, 2)]
    targets = [zeros(size), zeros(size)]
    wrong = []

    def work(n):
        for _ in range(rounds):
            targets[n].zero_()
            launch(kernels.copy, size, [sources[n]], [targets[n]])
            if not (targets[n].numpy() == n + 1).all():
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_launches_leave_nothing_behind(kernels):
    x, v, block = zeros(1), np.zeros(1, np.float32), zeros(1, int)

    def launches(count):
        for i in range(count):
            launch(kernels.step, 1, [x, v], [1.0, 2, 0.5])
            if i % 100 == 0:
                with pytest.raises(LaunchError):
                    launch(kernels.step, 1, [x, v, 1.0, 2, block])

    launches(1000)
    gc.collect()
    tracemalloc.start()
    counts = [sys.getrefcount(item) for item in (x, v, block, kernels.step.entry)]
    nones, memory = sys.getrefcount(None), tracemalloc.get_traced_memory()[0]
    launches(100_000)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - memory
    tracemalloc.stop()
    assert [sys.getrefcount(item) for item in (x, v, block, kernels.step.entry)] == counts
    assert abs(sys.getrefcount(None) - nones) < 100
    assert grown < 20_000


PARTS = [
    ("contiguous", lambda x: x),
    ("contiguous", lambda x: x[1:3]),
    ("contiguous", lambda x: x[2:2, ::3]),
    ("strided", lambda x: x[::2]),
    ("strided", lambda x: x[:, 1:]),
    ("strided", lambda x: x[::-1, ::-1]),
    ("strided", lambda x: x.transpose()),
]


@pytest.mark.parametrize(("layout", "part"), PARTS)
def test_parts_of_arrays_and_of_numpy_s_reach_the_kernel_that_is_built_for_them(twice, layout, part):
    for make in (functools.partial(array, copy=False), np.asarray):
        values = np.arange(20, dtype="f4").reshape(4, 5)
        wanted = values.copy()
        for _ in range(2):
            given = part(make(values))
            launch(twice.kernel, (given.shape[0], given.shape[1]), [given])
            part(wanted)[...] *= 2
        assert np.array_equal(values, wanted)
    assert twice.builds == ["strided"] * (layout == "strided")


def test_indexed_elements_reach_the_kernel_that_is_built_for_them(twice):
    values = np.arange(20, dtype="f4").reshape(4, 5)
    wanted = values.copy()
    base = array(values, copy=False)
    for rows, columns in (([3, 0], slice(None)), (slice(None, None, 2), [4]), ([1], [1, 2])):
        chosen = base[rows, columns]
        launch(twice.kernel, chosen.shape, [chosen])
        grid = np.ix_(np.arange(4)[rows], np.arange(5)[columns])
        wanted[grid] *= 2
    assert np.array_equal(values, wanted)
    assert twice.builds == ["indexed"]


def test_a_fault_in_a_variant_is_told_by_its_own_sites(twice):
    part = zeros((4, 2))[::2]
    with pytest.raises(KernelError, match=r"index 2 is outside array 'x, strided' of length 2") as caught:
        launch(twice.kernel, (3, 2), [part])
    assert caught.value.thread == (2, 0)


def test_components_that_do_not_follow_each_other_are_refused_for_every_layout(echo):
    turned = np.zeros((3, 4), "f4").T
    with pytest.raises(LaunchError, match="the components of its elements do not follow each other"):
        launch(echo(("p", dtypes.ArrayType(dtypes.vec3))), 1, [zeros(8, dtypes.uint64), turned])


def test_a_plan_s_launches_take_parts_too(twice):
    values = np.ones((4, 4), "f4")
    plan = Plan()
    plan.launch(twice.kernel, (2, 4), [array(values, copy=False)[::2]])
    plan.launch(twice.kernel, (1, 1), [array(values, copy=False)[[0], [0]]])
    plan.launch(twice.kernel, (4, 4), [values])
    plan.freeze()
    plan.run()
    assert values.tolist() == [[8, 4, 4, 4], [2] * 4, [4] * 4, [2] * 4]
    assert [at.program.name for at in plan.launches] == ["twice_strided", "twice_indexed", "twice_contiguous"]
    assert len(plan.digest) == 64


def test_threads_that_come_together_build_a_variant_once(twice):
    together = threading.Barrier(4)

    def work():
        together.wait()
        launch(twice.kernel, (2, 2), [zeros((2, 4))[:, ::2]])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert twice.builds == ["strided"]


GRIDS = [(7,), (3, 4), (2, 3, 4), (2, 3, 4, 5), (2**31 - 1, 3), (2**30, 2**31 - 1, 1), (2**15,) * 4]


@pytest.mark.parametrize("dim", GRIDS)
def test_threads_are_numbered_row_major_in_64_bits(last, dim):
    kernel = last(len(dim))
    with pytest.raises(KernelError) as caught:
        launch(kernel, dim)
    assert caught.value.thread == (tuple(n - 1 for n in dim) if len(dim) > 1 else dim[0] - 1)
    assert f"thread {caught.value.thread}" in str(caught.value)
    plan = Plan()
    plan.launch(kernel, list(dim))
    plan.freeze()
    with pytest.raises(KernelError) as again:
        plan.run()
    assert again.value.thread == caught.value.thread


@pytest.mark.parametrize(
    ("dims", "dim", "text"),
    [
        (1, (2, 3), r"its tid\(\) gives 1 coordinate, and dim=\(2, 3\) has 2; write dim=n"),
        (2, 6, r"its tid\(\) gives 2 coordinates, and dim=6 has 1; write dim=\(n, m\)"),
        (4, (1, 1, 1), r"its tid\(\) gives 4 coordinates, and dim=\(1, 1, 1\) has 3; write dim=\(n, m, k, l\)"),
    ],
)
def test_a_grid_with_other_coordinates_is_refused(last, dims, dim, text):
    with pytest.raises(LaunchError, match=f"kernel 'last': {text}"):
        launch(last(dims), dim)


@pytest.mark.parametrize("dim", [5, (5,), (1, 5), (1, 1, 1, 1)])
def test_a_kernel_that_asks_for_no_coordinates_takes_any_grid(last, dim):
    with pytest.raises(KernelError):
        launch(last(0), dim)


def test_options_of_gpus_change_nothing(kernels):
    y = zeros(2)
    launch(kernels.copy, 2, [array([1.0, 2.0])], [y], stream=None, block_dim=64, max_blocks=1)
    assert list(y) == [1, 2]


def test_a_launch_that_is_kept_takes_other_arguments(kernels):
    x, y = array([1.0, 2.0, 3.0]), zeros(3)
    command = launch(kernels.copy, 2, [x, y], record_cmd=True)
    assert not y.numpy().any()
    command.launch()
    assert list(y) == [1, 2, 0]
    command.set_dim(3)
    command.set_param_by_name("x", array([7.0, 8.0, 9.0]))
    command.launch()
    assert list(y) == [7, 8, 9]
    other = zeros(3)
    command.set_param_at_index(1, other)
    command.launch()
    assert list(other) == [7, 8, 9]
    command.set_params([y, x])
    command.launch()
    assert list(x) == [7, 8, 9]
    with pytest.raises(LaunchError, match="has no parameter 'z'; it has x, y"):
        command.set_param_by_name("z", 1)
    with pytest.raises(LaunchError, match="has 2 parameters, none at 2"):
        command.set_param_at_index(2, 1)


def test_what_a_kept_launch_was_never_given_is_zero(kernels):
    command = Launch(kernels.step)
    command.launch()
    command.set_dim(1)
    x, v = array([1.0]), array([2.0])
    command.set_param_by_name("x", x)
    command.set_param_by_name("v", v)
    command.launch()
    assert (x[0], v[0]) == (1, 2)


def test_a_kept_launch_refuses_what_does_not_fit_when_it_is_set(echo):
    command = Launch(echo(("p", dtypes.vec3)), dim=1)
    command.set_param_by_name("p", (1, 2, 3))
    for set_it in (lambda: command.set_param_by_name("p", 5), lambda: command.set_param_at_index(1, 5)):
        with pytest.raises(LaunchError, match="argument 'p' expects vec3f but got a single value, int 5"):
            set_it()


def test_read_only_arrays_in_structs_are_read_but_never_written(echo):
    struct = dtypes.Struct("Body", (("x", dtypes.ArrayType(dtypes.float32, 1, "strided")),))
    locked = np.zeros(2, np.float32)
    locked.flags.writeable = False
    out = zeros(8, dtypes.uint64)
    launch(echo(("s", struct)), 1, [out, (locked,)])
    with pytest.raises(LaunchError, match=r"argument 's'.*read-only"):
        launch(echo(("s", struct)), 1, [out], [(locked,)])
