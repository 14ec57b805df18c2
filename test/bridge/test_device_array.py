"""A field on a GPU, as other libraries and launches take it: in place, read-only, behind the stream that it names."""

import gc

import numpy as np
import pytest
from devices import GPU, GPUS

import sim_node as sn
from sim_node import _native, dtypes
from sim_node.bridge.device_array import device_arrays
from sim_node.errors import LaunchError
from sim_node.layout import Layout

LAYOUT = Layout.of(
    [
        ("x", dtypes.vec3, (5,), "m"),
        ("one", dtypes.float64, (), ""),
        ("on", dtypes.bool_, (2, 3), ""),
        ("none", dtypes.float32, (0,), ""),
        ("deep", dtypes.int32, (1, 2, 1, 1, 1), ""),
    ]
)


@pytest.fixture
def shown(device):
    memory = device.allocate(LAYOUT.size, zeroed=True)
    words = np.arange(15, dtype=np.float32)
    device.write(memory.address, words.ctypes.data, words.nbytes)
    return device_arrays(LAYOUT, device, memory.address, memory)


@GPUS
def test_cudas_interface_tells_where_it_is(shown, device):
    told = shown["x"].__cuda_array_interface__
    assert (told["shape"], told["typestr"], told["data"]) == ((5, 3), "<f4", (shown["x"].ptr, True))
    assert (told["strides"], told["version"], told["stream"]) == (None, 3, int(device.stream))
    assert shown["none"].__cuda_array_interface__["data"] == (0, True)
    assert shown["one"].__cuda_array_interface__["shape"] == ()
    assert repr(shown["x"]) == "<x: float32 (5, 3) on cuda:0>"


@GPUS
def test_dlpack_lends_it_where_it_is(shown, device):
    assert shown["x"].__dlpack_device__() == (2, 0)
    assert sn.from_dlpack(shown["x"], dtype=sn.vec3).numpy().tolist() == np.arange(15.0).reshape(5, 3).tolist()
    assert sn.from_dlpack(shown["one"]).shape == (1,)
    assert sn.from_dlpack(shown["on"]).shape == (2, 3)
    tensor = _native.Tensor(shown["x"].__dlpack__(stream=-1, max_version=(1, 0)))
    assert (tensor.address, tensor.readonly, tensor.shape) == (shown["x"].ptr, True, (5, 3))


@GPUS
def test_what_dlpack_cannot_tell_is_refused(shown):
    lend = shown["x"].__dlpack__
    with pytest.raises(BufferError, match=r"'x' is lent where it is, on cuda:0; tick\.fetch copies it"):
        lend(copy=True, max_version=(1, 0))
    with pytest.raises(BufferError, match="is lent where it is"):
        lend(dl_device=(1, 0), max_version=(1, 0))
    with pytest.raises(BufferError, match=r"'x' is read-only, and a consumer of DLPack before 1\.0 cannot be told"):
        lend()
    with pytest.raises(BufferError, match="'deep' has 5 axes; 4 are lent at most"):
        shown["deep"].__dlpack__(max_version=(1, 0))
    with pytest.raises(TypeError, match=r"'x' is in the memory of cuda:0; tick.fetch\('x'\) copies it"):
        np.asarray(shown["x"])


@sn.kernel
def double(x: sn.array(dtype=sn.vec3), y: sn.array(dtype=sn.vec3)):
    i = sn.tid()
    y[i] = 2.0 * x[i]


@GPUS
def test_a_launch_takes_it_and_does_not_write_it(shown, device):
    y = sn.zeros(5, dtype=sn.vec3, device=device)
    sn.launch(double, dim=5, inputs=[shown["x"]], outputs=[y], device=device)
    assert y.numpy()[4].tolist() == [24.0, 26.0, 28.0]
    with pytest.raises(LaunchError, match="the kernel writes it, and it is read-only"):
        sn.launch(double, dim=5, inputs=[y], outputs=[shown["x"]], device=device)


@GPUS
def test_it_keeps_its_memory(device):
    memory = device.allocate(LAYOUT.size)
    shown = device_arrays(LAYOUT, device, memory.address, memory)["x"]
    gc.collect()  # what earlier tests left
    taken = device.arena.taken
    del memory
    gc.collect()
    assert device.arena.taken == taken
    del shown
    gc.collect()
    assert device.arena.taken < taken


@pytest.mark.parametrize("library", ["torch", "cupy", "numba.cuda"])
@pytest.mark.parametrize("device", [GPU], indirect=True)
def test_other_libraries_take_it(shown, library):
    found = pytest.importorskip(library)
    if library == "torch":
        taken = found.from_dlpack(shown["x"]).cpu().numpy()  # its tensors know no read-only memory
    elif library == "cupy":
        taken = found.asnumpy(found.asarray(shown["x"]))
    else:
        taken = found.as_cuda_array(shown["x"]).copy_to_host()
    assert taken.tolist() == np.arange(15.0).reshape(5, 3).tolist()
