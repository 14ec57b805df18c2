"""The least that a kernel costs whose end the host sees: it fills memory of the host, then sets a flag there."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from sim_node.cli.benches.bare_graph import CALL, instantiated, pointer
from sim_node.device.cuda import ENTRY, Cuda
from sim_node.device.driver import call

THREADS = 256
_LINE = 64  # bytes between the flag and the words: no line of the processor's cache holds both
# One block counts the flag up: it writes the new count to every word, and, once the host can see those, to the flag.
_SIGNAL = f"""
.version 6.3
.target sm_75
.address_size 64
.visible .entry {ENTRY}(.param .u64 words, .param .u32 count, .param .u64 flag)
{{
.reg .pred %p<2>;
.reg .b32 %r<5>;
.reg .b64 %d<5>;
ld.param.u64 %d1, [words];
ld.param.u32 %r1, [count];
ld.param.u64 %d2, [flag];
mov.u32 %r2, %tid.x;
ld.volatile.global.u32 %r3, [%d2];
add.u32 %r3, %r3, 1;
fill:
setp.ge.u32 %p1, %r2, %r1;
@%p1 bra filled;
mul.wide.u32 %d3, %r2, 4;
add.u64 %d4, %d1, %d3;
st.global.u32 [%d4], %r3;
add.u32 %r2, %r2, {THREADS};
bra fill;
filled:
membar.sys;
bar.sync 0;
mov.u32 %r4, %tid.x;
setp.ne.u32 %p1, %r4, 0;
@%p1 bra done;
st.volatile.global.u32 [%d2], %r3;
done:
ret;
}}
\0""".encode()


@contextmanager
def bare_flag(gpu: Cuda, nbytes: int) -> Iterator[Callable[[], None]]:
    """Give a call that launches the kernel, by nothing but driver calls, and looks until it sees the flag.

    Raises DriverError where the driver refuses one of them.
    """
    module, memory = gpu.load(_SIGNAL), gpu.pinned(_LINE + nbytes)
    address = ctypes.addressof(ctypes.c_ubyte.from_buffer(memory))
    flag = np.frombuffer(memory, np.uint32, 1)
    flag[:] = 0
    with gpu.active():
        kinds = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p)
        made = instantiated(module.symbols[ENTRY], 1, THREADS, ((address + _LINE, nbytes // 4, address), kinds))
    launch = CALL(pointer("cuGraphLaunch"))
    graph_at, stream_at = ctypes.c_void_p(int(made)), ctypes.c_void_p(int(gpu.stream))

    def signal() -> None:
        before = int(flag[0])
        if launch(graph_at, stream_at):
            raise RuntimeError("the driver refuses the bare kernel")
        while flag[0] == before:
            pass

    try:
        yield signal
    finally:
        with gpu.active():
            call("cuGraphExecDestroy", made)
