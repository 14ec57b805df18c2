"""What numpy and the libraries of GPUs see of an array is its own memory, as it lies and as long as they look."""

import gc
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lenders import STREAM, Pretended

import sim_node as sn
from sim_node import _native, dtypes
from sim_node.errors import DeviceError
from sim_node.runtime import exchange
from sim_node.runtime.array import Array
from sim_node.runtime.creation import zeros
from sim_node.runtime.exchange import GPU, HOST, numbered

DTYPES = [
    *dtypes.SCALARS, sn.vec2, sn.vec3d, sn.vec4i, sn.vec2ub, sn.mat22, sn.mat33h, sn.quat, sn.transformd,
    dtypes.Matrix(dtypes.float32, 2, 3),
]  # fmt: skip


@st.composite
def parts(draw):
    """An array with numbers in it, or some part of one: steps, either way, and dimensions in another order."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=1, max_size=4)))
    made = zeros(shape, dtype)
    view = made.numpy()
    view[...] = np.arange(view.size).reshape(view.shape) % 100
    keys = tuple(slice(None, None, draw(st.sampled_from([1, 2, -1, -2]))) for _ in shape)
    order = draw(st.permutations(range(len(shape))))
    return made[keys].transpose(order)


@given(parts())
def test_numpy_sees_the_memory_itself_as_it_lies(part):
    seen, own = np.from_dlpack(part), part.numpy()
    assert (seen.shape, seen.dtype) == (own.shape, own.dtype)
    assert (seen == own).all()
    assert seen.size == 0 or seen.ctypes.data == own.ctypes.data
    assert all(a == b for a, b, n in zip(seen.strides, own.strides, own.shape) if n > 1 and seen.size)
    assert part.__dlpack_device__() == (HOST, 0)


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 3), (2, 0)])
def test_a_capsule_keeps_the_memory_and_gives_it_back(version):
    class Owner(np.ndarray):
        pass

    def capsule():
        data = Owner((4,), "f4")
        return weakref.ref(data), sn.array(data, copy=False).__dlpack__(max_version=version)

    watched, taken = capsule()
    name = "dltensor_versioned" if version and version[0] else "dltensor"
    assert f'"{name}"' in repr(taken)
    gc.collect()
    assert watched() is not None
    tensor = _native.Tensor(taken)
    with pytest.raises(TypeError, match="taken before"):
        _native.Tensor(taken)
    del taken
    gc.collect()
    assert watched() is not None
    del tensor
    assert watched() is None
    watched, untaken = capsule()
    del untaken
    assert watched() is None


def test_who_came_first_may_go_first():
    made = zeros(3)
    seen = np.from_dlpack(made)
    del made
    gc.collect()
    seen[:] = 7
    back = sn.from_dlpack(seen)
    del seen
    gc.collect()
    assert back.list() == [7, 7, 7]


def test_a_copy_is_made_where_it_is_wanted_and_no_other():
    made = sn.array([1.0, 2.0])
    copied = np.from_dlpack(SimpleNamespace(
        __dlpack__=lambda **asked: made.__dlpack__(copy=True, max_version=(1, 0)), __dlpack_device__=lambda: (1, 0)
    ))  # fmt: skip
    made[0] = 5
    assert copied.tolist() == [1, 2]
    assert copied.flags.writeable
    assert _native.Tensor(made.__dlpack__(copy=False, dl_device=(HOST, 0))).address == made.ptr


def test_read_only_memory_is_lent_as_such_or_not_at_all():
    data = np.ones(3, "f4")
    data.flags.writeable = False
    made = sn.array(data, copy=False)
    assert _native.Tensor(made.__dlpack__(max_version=(1, 0))).readonly
    with pytest.raises(BufferError, match="read-only"):
        made.__dlpack__()
    assert not _native.Tensor(made.__dlpack__(max_version=(1, 0), copy=True)).readonly


def test_what_cannot_be_lent_is_refused():
    @sn.struct
    class Link:
        mass: float

    with pytest.raises(BufferError, match="no structs such as Link"):
        zeros(2, Link).__dlpack__()
    for stream in (0, 2, "x"):
        with pytest.raises(ValueError, match="memory of the CPU has none"):
            zeros(2).__dlpack__(stream=stream)
    with pytest.raises(BufferError, match="device 10, number 0"):
        zeros(2).__dlpack__(dl_device=(10, 0))
    with pytest.raises((DeviceError, BufferError)):
        zeros(2).__dlpack__(dl_device=(GPU, 99))


def test_to_dlpack_is_warps_word_for_a_capsule():
    made = zeros(2, sn.vec3)
    assert sn.from_dlpack(sn.to_dlpack(made)).ptr == made.ptr


# as of a GPU


def test_a_gpu_makes_the_consumers_stream_wait():
    gpu = Pretended()
    made = gpu.array(np.zeros(4, "f4"), dtypes.float32)
    assert made.__dlpack_device__() == (GPU, 3)
    for stream, waits in [(None, 1), (1, 1), (2, 2), (77, 77)]:
        tensor = _native.Tensor(made.__dlpack__(stream=stream))
        assert (tensor.device, tensor.address) == ((GPU, 3), made.ptr)
        assert gpu.said.pop() == (waits, STREAM)
    made.__dlpack__(stream=-1)
    assert gpu.said == []
    for stream in (0, -2, 1.0, True, "1"):
        with pytest.raises(ValueError, match="0 could mean either"):
            made.__dlpack__(stream=stream)
    with pytest.raises(BufferError, match="only as a copy"):
        made.__dlpack__(dl_device=(HOST, 0), copy=False)


@pytest.mark.parametrize(
    ("dtype", "shape"), [(dtypes.float64, (5,)), (sn.vec3, (4, 3)), (sn.mat22, (2, 3, 2, 2)), (sn.vec2i, (0, 2))]
)
def test_cudas_interface_tells_what_numpys_does(dtype, shape):
    data = np.zeros(shape, dtype.scalar.numpy)
    made = Pretended().array(data, dtype)
    told, numpys = made.__cuda_array_interface__, data.__array_interface__
    assert {key: told[key] for key in ("shape", "typestr")} == {key: numpys[key] for key in ("shape", "typestr")}
    assert (told["version"], told["stream"], told["strides"]) == (3, STREAM, None)
    assert told["data"] == (data.ctypes.data if data.size else 0, False)
    turned = made[::-1]
    assert turned.__cuda_array_interface__["strides"] == (data[::-1].strides if data.size else None)


def test_cudas_interface_tells_what_may_not_be_written_and_structs():
    @sn.struct
    class Link:
        mass: float
        length: sn.float64

    gpu = Pretended()
    assert gpu.array(np.zeros(2, "f4"), dtypes.float32, True).__cuda_array_interface__["data"][1]
    numpys = zeros(2, Link).numpy()
    told = gpu.array(numpys, Link).__cuda_array_interface__
    assert {**told, "stream": None, "version": 3} == {
        **numpys.__array_interface__,
        "strides": None,
        "stream": None,
        "version": 3,
    }


def test_each_interface_is_of_its_own_memory_only():
    host, made = zeros(2), Pretended().array(np.zeros(2, "f4"), dtypes.float32)
    assert not hasattr(host, "__cuda_array_interface__")
    assert hasattr(host, "__array_interface__")
    assert hasattr(made, "__cuda_array_interface__")
    assert not hasattr(made, "__array_interface__")
    with pytest.raises(ValueError, match="only as a copy"):
        made.__array__(copy=False)


def test_numbers_of_devices():
    assert numbered((HOST, 0)) is numbered((3, 0)) is sn.get_device("cpu")
    with pytest.raises(BufferError, match="device 10, number 1"):
        numbered((10, 1))
    assert len(set(exchange.TYPES.values())) == len(dtypes.SCALARS)


# on a GPU


@pytest.mark.gpu
def test_numpy_gets_a_copy_of_a_gpus_memory():
    made = sn.array([1.0, 2.0, 3.0], device="cuda:0")
    assert np.asarray(made).tolist() == [1, 2, 3]
    assert np.asarray(made, dtype="f8").dtype == np.float64
    copied = sn.from_dlpack(made.__dlpack__(dl_device=(HOST, 0), max_version=(1, 0)))
    assert copied.device.is_cpu
    assert copied.list() == [1, 2, 3]


@pytest.mark.gpu
def test_arrays_of_a_gpu_go_through_dlpack():
    made = sn.array(np.arange(12, dtype="f4").reshape(4, 3), dtype=sn.vec3, device="cuda:0")
    part = made[::2]
    back = sn.from_dlpack(part, sn.vec3)
    assert (back.ptr, back.strides, back.device) == (part.ptr, part.strides, part.device)
    assert isinstance(back, Array)
    address = made.ptr
    del made, part
    gc.collect()
    assert sn.zeros(4, sn.vec3, device="cuda:0").ptr != address  # still lent
    assert back.numpy().tolist() == [[0, 1, 2], [6, 7, 8]]


@pytest.mark.gpu
def test_cupy_sees_an_array_and_its_kernels_follow_ours():
    cupy = pytest.importorskip("cupy")
    made = sn.zeros(1 << 20, device="cuda:0")
    for see in (cupy.asarray, cupy.from_dlpack):
        with cupy.cuda.Stream(non_blocking=True):
            sn.launch(count, made.size, [made], device="cuda:0")
            seen = see(made)
            assert seen.data.ptr == made.ptr
            assert float(seen.min()) == float(seen.max()) == made.numpy()[0]


@pytest.mark.gpu
def test_numba_sees_an_array():
    cuda = pytest.importorskip("numba.cuda")
    made = sn.array(np.arange(6, dtype="f4").reshape(2, 3), dtype=sn.vec3, device="cuda:0")
    seen = cuda.as_cuda_array(made)
    assert seen.shape == (2, 3)
    assert seen.copy_to_host().tolist() == made.numpy().tolist()


@sn.kernel
def count(x: sn.array(dtype=float)):
    i = sn.tid()
    x[i] = x[i] + 1.0
