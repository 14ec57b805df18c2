"""Memory of other libraries is taken in place, as it lies, for as long as an array needs it, or refused."""

import gc
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lenders import STREAM, Lender, Pretended

import sim_node as sn
from sim_node import _native, dtypes
from sim_node.device.names import get_device
from sim_node.errors import KernelError, LaunchError
from sim_node.runtime import foreign
from sim_node.runtime.exchange import TYPES
from sim_node.runtime.foreign import adopt, adopted, on_gpu

TAKEN = [dtypes.float32, dtypes.int8, dtypes.uint16, dtypes.int64, dtypes.bool_, sn.vec3, sn.mat22d, sn.quat, sn.vec2i]


@sn.kernel
def add(x: sn.array(dtype=sn.vec3), y: sn.array(dtype=float)):
    i = sn.tid()
    y[i] = y[i] + x[i][0] + x[i][1] + x[i][2]


class Shared:
    """An object that shares memory in some of the ways that libraries do, and is no buffer."""

    def __init__(self, data, *ways):
        self._data = data
        for way in ways:
            setattr(self, way, getattr(data, way))


DLPACK = ("__dlpack__", "__dlpack_device__")


@pytest.fixture
def gpu(monkeypatch):
    """A GPU by name only, which every address is of."""
    made = Pretended()
    monkeypatch.setattr(foreign, "_holder", lambda address: made)
    monkeypatch.setattr(foreign, "numbered", lambda number: made if number[0] == 2 else get_device("cpu"))
    return made


@st.composite
def lying(draw, dtype=None):
    """A dtype, and numpy's memory of it, with steps, turned, and its dimensions in some order."""
    wanted = draw(st.sampled_from(TAKEN))
    shape = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    axes = getattr(wanted, "shape", ())
    data = np.arange(np.prod([*shape, *axes])).reshape(*shape, *axes).astype(wanted.scalar.numpy)
    data = data[tuple(slice(None, None, draw(st.sampled_from([1, 2, -1, -3]))) for _ in shape)]
    order = [*draw(st.permutations(range(len(shape)))), *range(len(shape), len(shape) + len(axes))]
    return wanted, data.transpose(order)


@given(lying())
def test_memory_is_taken_as_it_lies(given_):
    dtype, data = given_
    for made in (sn.from_dlpack(data, dtype), adopt(Shared(data, "__array_interface__"), dtype)[0]):
        assert (made.dtype, made.numpy().shape) == (dtype, data.shape)
        assert (made.numpy() == data).all()
        assert made.size == 0 or made.numpy().ctypes.data == data.ctypes.data
    scalars = sn.from_dlpack(data) if data.ndim <= 4 else None
    assert scalars is None or (scalars.dtype, scalars.shape) == (dtype.scalar, data.shape)


@pytest.mark.parametrize("dtype", dtypes.SCALARS, ids=repr)
def test_every_type_comes_back(dtype):
    made = sn.zeros((2, 3), dtype)
    assert sn.from_dlpack(made).dtype is dtype
    assert np.from_dlpack(made).dtype == dtype.numpy
    assert TYPES[dtype][1] == 8 * dtype.size


def test_whole_numbers_of_one_size_stand_for_each_other():
    assert sn.from_dlpack(np.full(2, -1, "i4"), sn.uint32).list() == [2**32 - 1] * 2
    assert sn.from_dlpack(np.full((2, 3), 255, "u1"), sn.vec3b).numpy().tolist() == [[-1] * 3] * 2
    assert sn.from_dlpack(np.array([True, False]), sn.uint8).list() == [1, 0]
    for dtype in (sn.float32, sn.int64, sn.uint16):
        with pytest.raises(TypeError, match="elements of int32 are no"):
            sn.from_dlpack(np.zeros(2, "i4"), dtype)


def test_one_element_is_an_array_of_one():
    assert sn.from_dlpack(np.array(3.0)).shape == (1,)
    assert sn.from_dlpack(np.zeros(3, "f4"), sn.vec3).shape == (1,)


def test_what_does_not_fit_is_refused(gpu):
    with pytest.raises(ValueError, match=r"last axes of shape \(2, 4\) are not the components of a vec3f, \(3,\)"):
        sn.from_dlpack(np.zeros((2, 4), "f4"), sn.vec3)
    with pytest.raises(ValueError, match="are not the components of a mat22f"):
        sn.from_dlpack(np.zeros(2, "f4"), sn.mat22)
    with pytest.raises(ValueError, match="do not follow each other"):
        sn.from_dlpack(np.zeros((3, 2), "f4").T, sn.vec3)
    with pytest.raises(ValueError, match="1 to 4 dimensions"):
        sn.from_dlpack(np.zeros((1,) * 5))
    with pytest.raises(TypeError, match="type 5 with 64 bits"):
        sn.from_dlpack(np.zeros(2, "c8"))
    with pytest.raises(TypeError, match="no capsule of DLPack"):
        sn.from_dlpack([1.0])
    with pytest.raises(ValueError, match="not aligned"):
        sn.from_dlpack(np.zeros(9, "u1")[1:].view("f4"))
    with pytest.raises(ValueError, match="with a mask"):
        adopt(Lender(np.zeros(2, "f4"), mask=np.zeros(2, "?")))


def test_read_only_memory_stays_so_and_is_not_written():
    data = np.zeros(3, "f4")
    data.flags.writeable = False
    made = sn.from_dlpack(data)
    assert not made.writeable
    assert not np.from_dlpack(made).flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        made[0] = 1.0
    with pytest.raises(LaunchError, match="SN707"):
        sn.launch(add, 3, [np.zeros((3, 3), "f4")], [Shared(data, *DLPACK)])


def test_producers_from_before_versions_are_asked_as_they_know():
    data, asked = np.arange(3.0), []

    class Old:
        __dlpack_device__ = data.__dlpack_device__

        def __dlpack__(self, stream=None):
            asked.append(stream)
            return data.__dlpack__()

    assert sn.from_dlpack(Old()).list() == [0, 1, 2]
    assert asked == [None]


@pytest.mark.parametrize("way", [DLPACK, ("__array_interface__",)])
def test_the_memory_lives_as_long_as_the_array(way):
    class Owner(np.ndarray):
        pass

    data = Owner((3,), "f4")
    data[:] = 4
    watched = weakref.ref(data)
    made, _ = adopt(Shared(data, *way))
    part = made[1:]
    del data, made
    gc.collect()
    assert part.list() == [4, 4]
    del part
    gc.collect()
    assert watched() is None


def test_memory_that_numpy_is_told_of_too_is_the_hosts():
    """As managed memory is; with no driver here, asking it whose memory that is would fail."""

    class Both:
        __array_interface__ = __cuda_array_interface__ = np.arange(3.0).__array_interface__

    assert not on_gpu(Both())
    made, stream = adopt(Both())
    assert (made.device.is_cpu, made.list(), stream) == (True, [0, 1, 2], 0)


@pytest.mark.parametrize("way", [DLPACK, ("__array_interface__",)])
@pytest.mark.parametrize("device", ["cpu", "python"])
def test_a_launch_takes_what_is_no_buffer(way, device):
    x, y = np.ones((4, 3), "f4"), np.zeros(8, "f4")
    given_ = [Shared(x, *way)], [Shared(y[::2], *way)]
    sn.launch(add, 4, *given_, device=device)
    plan = sn.Plan(device)
    plan.launch(add, 4, *given_)
    plan.freeze()
    del given_
    plan.run()
    assert y.tolist() == [6, 0] * 4


def test_a_launch_of_it_is_no_less_strict_than_of_buffers():
    x, y = np.ones((4, 3), "f4"), np.zeros(4, "f4")
    wrong = [
        (Shared(x.astype("f8"), *DLPACK), "array<f64, 2> of shape \\(4, 3\\): its dtype differs"),
        (Shared(x[0], *DLPACK), "array<f32> of shape \\(3,\\)"),
        (Shared(np.ones((3, 4), "f4").T, *DLPACK), "array<f32, 2>|of shape \\(4, 3\\)"),
        (SimpleNamespace(__dlpack_device__=lambda: (1, 0), __dlpack__=lambda **_: 5), "SimpleNamespace"),
    ]
    for value, told in wrong:
        with pytest.raises(LaunchError, match=told):
            sn.launch(add, 4, [value], [y])
        with pytest.raises(LaunchError, match=told):
            sn.Plan().launch(add, 4, [value], [y])
    with pytest.raises(LaunchError, match="SN704"):
        sn.launch(add, 4, [Shared(x, *DLPACK)], [])
    with pytest.raises(KernelError, match="outside array"):
        sn.launch(add, 5, [Shared(x, *DLPACK)], [Shared(y, *DLPACK)])


def test_a_kernel_that_leaves_types_open_takes_those_of_foreign_memory():
    @sn.kernel
    def twice(x: sn.array(dtype=sn.Scalar)):
        i = sn.tid()
        x[i] = x[i] + x[i]

    data = np.arange(3, dtype="i8")
    sn.launch(twice, 3, [Shared(data, *DLPACK)])
    assert data.tolist() == [0, 2, 4]


# as of a GPU


def test_a_producer_is_told_our_stream(gpu):
    data, asked = np.ones((2, 3), "f4"), []
    lent = gpu.array(data, dtypes.float32)

    def dlpack(**given_):
        asked.append(given_)
        return lent.__dlpack__(**given_)

    value = SimpleNamespace(__dlpack__=dlpack, __dlpack_device__=lambda: (2, 3))
    made = sn.from_dlpack(value, sn.vec3)
    assert (made.device, made.ptr, made.shape) == (gpu, data.ctypes.data, (2,))
    assert asked == [{"stream": STREAM, "max_version": (1, 0)}]
    again, stream = adopt(value, sn.vec3)
    assert (again.ptr, stream) == (made.ptr, 0)


@pytest.mark.parametrize(("stream", "waits"), [(None, 0), (1, 0), (2, 2), (99, 99)])
def test_the_stream_of_an_interface_is_waited_for_and_told_on(gpu, stream, waits):
    data = np.ones((4, 3), "f4")
    made, told = adopt(Lender(data, stream=stream), sn.vec3, exact=True)
    assert (made.device, made.ptr, made.shape, told) == (gpu, data.ctypes.data, (4,), waits)
    assert gpu.said == ([(STREAM, waits)] if waits else [])
    inputs, outputs, streams = adopted([("x", dtypes.ArrayType(sn.vec3, 1))], (), [Lender(data, stream=stream)], gpu)
    assert (inputs, outputs[0].ptr) == ([], data.ctypes.data)
    assert streams == ([(gpu, waits)] if waits else [])


def test_an_interface_without_elements_is_of_the_device_that_launches(gpu):
    made, _ = adopt(Lender(np.zeros((0, 3), "f4"), data=(0, False)), sn.vec3, gpu)
    assert (made.device, made.shape, made.ptr) == (gpu, (0,), None)


def test_strides_structs_and_read_only_memory_of_an_interface(gpu):
    @sn.struct
    class Link:
        mass: float
        length: sn.float64
        axis: sn.vec3

    data = np.arange(12, dtype="f4").reshape(4, 3)[::-2]
    assert adopt(Lender(data), sn.vec3)[0].strides == data.strides[:1]
    data.flags.writeable = False
    assert not adopt(Lender(data), sn.vec3)[0].writeable
    links = sn.zeros(2, Link).numpy()
    assert adopt(gpu.array(links, Link), Link)[0].ptr == links.ctypes.data
    assert adopt(Lender(links), Link, exact=True)[0].dtype == sn.zeros(1, Link).dtype


def test_memory_of_a_gpu_is_no_argument_on_the_cpu(gpu):
    with pytest.raises(LaunchError, match="SN716"):
        sn.launch(add, 4, [Lender(np.ones((4, 3), "f4"))], [np.zeros(4, "f4")], device="cpu")


def test_an_array_at_an_address_is_of_the_device_that_is_named(gpu, monkeypatch):
    monkeypatch.setattr("sim_node.runtime.creation.get_device", lambda device: gpu)
    made = sn.array(ptr=4096, dtype=float, shape=(2, 2), device="cuda:3")
    assert (made.ptr, made.device, made.strides) == (4096, gpu, (8, 4))


def test_a_capsule_of_a_newer_kind_of_dlpack_is_given_back():
    made = sn.zeros(2)
    capsule = made.__dlpack__(max_version=(1, 0))
    get = _native_pointer(capsule)
    get.contents.value = 2  # the major version comes first
    with pytest.raises(BufferError, match=r"DLPack of version 2\.0"):
        _native.Tensor(capsule)
    del capsule
    assert made.list() == [0, 0]


def _native_pointer(capsule):
    import ctypes

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(pointer(capsule, b"dltensor_versioned"), ctypes.POINTER(ctypes.c_uint32))


# on a GPU


@pytest.mark.gpu
def test_cupy_arrays_are_arguments_on_any_stream():
    cupy = pytest.importorskip("cupy")
    for stream in (cupy.cuda.Stream.null, cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream.ptds):
        with stream:
            x, y = cupy.ones((1 << 20, 3), "f4"), cupy.zeros(1 << 21, "f4")[::2]
            for step in range(1, 20):
                x += 1
                sn.launch(add, len(y), [x], [y], device="cuda:0")
                y -= 3 * step
            assert float(y.min()) == float(y.max()) == 3 * 19
            made = sn.from_dlpack(x, sn.vec3)
            assert (made.ptr, made.shape, made.device.name) == (x.data.ptr, (1 << 20,), "cuda:0")


@pytest.mark.gpu
def test_numba_arrays_are_arguments():
    cuda = pytest.importorskip("numba.cuda")
    x, y = cuda.to_device(np.ones((4, 3), "f4")), cuda.to_device(np.zeros(4, "f4"))
    sn.launch(add, 4, [x], [y], device="cuda:0")
    assert y.copy_to_host().tolist() == [3] * 4
    shared = sn.array(x, dtype=sn.vec3, copy=False, device="cuda:0")
    assert (shared.ptr, shared.shape) == (x.__cuda_array_interface__["data"][0], (4,))
    copied = sn.array(x, device="cuda:0")
    assert copied.ptr != shared.ptr
    assert sn.array(x, device="cpu").numpy().tolist() == [[1] * 3] * 4


@pytest.mark.gpu
def test_a_plan_keeps_foreign_memory_of_a_gpu():
    cupy = pytest.importorskip("cupy")
    x, y = cupy.ones((4, 3), "f4"), cupy.zeros(4, "f4")
    plan = sn.Plan("cuda:0")
    plan.launch(add, 4, [x], [y])
    plan.freeze()
    del x
    gc.collect()
    plan.run()
    plan.run()
    assert y.get().tolist() == [6] * 4
