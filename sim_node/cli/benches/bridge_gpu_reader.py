"""The reading process of the bridge bench on a GPU: takes ticks in one way, and prints when it had each, as JSON.

``host`` looks at the field, ``fetch`` copies it by DMA, ``kernel`` runs a kernel on it and waits for that. The last two
take turns with the same by nothing but driver calls.
"""

from __future__ import annotations

import ctypes
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import sim_node as sn
from sim_node.bridge import Subscriber
from sim_node.cli.benches import field
from sim_node.cli.benches.bare_graph import bare_graph, pointer
from sim_node.device.cuda import Cuda
from sim_node.device.names import get_device

FIELD, SPIN_US = "x", 1_000_000
_COPY = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
_WAIT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)

Take = Callable[[Any], object]  # has a tick's field in hand when it returns


def main(name: str, way: str, device: str, last: int) -> None:
    """Read until tick ``last``; print ``ready``, then for each way [tick, ns when its flag was seen, ns when it ended].

    The flag is seen when ``next`` has the tick. ``bare`` are the ticks that driver calls took. Wrong numbers in a field
    end the process.
    """
    with Subscriber(name, timeout=20.0, on="host" if way == "host" else "device") as subscriber:
        gpu = get_device(device)
        assert isinstance(gpu, Cuda)
        nbytes = next(each.nbytes for each in _layout(subscriber) if each.name == FIELD)
        with bare_graph(gpu, 1, 256) as bare, gpu.active():
            ours: dict[str, Take] = {"host": _look, "fetch": _fetch, "kernel": Kernels(gpu, nbytes // 4)}
            ways = {"ours": ours[way]}
            if way == "fetch":
                ways["bare"] = bare_fetch(gpu, nbytes)
            elif way == "kernel":
                ways["bare"] = lambda _: bare["pointers"]()
            print(json.dumps(_read(subscriber, ways, last)))


def _layout(subscriber: Subscriber) -> Any:
    return [*subscriber.layout, *(subscriber.offer.layout if subscriber.offer else ())]


def _read(subscriber: Subscriber, ways: dict[str, Take], last: int) -> dict[str, list[tuple[int, int, int]]]:
    found: dict[str, list[tuple[int, int, int]]] = {name: [] for name in ways}
    names, turn, step = list(ways), 0, 0
    print("ready", flush=True)
    while step < last:
        with subscriber.next(timeout=20.0, spin_us=SPIN_US) as tick:
            seen = time.monotonic_ns()
            ways[names[turn]](tick)
            ended, step = time.monotonic_ns(), tick.step
        found[names[turn]].append((step, seen, ended))
        turn = (turn + 1) % len(names)
    return found


def _look(tick: Any) -> None:
    x = tick[FIELD]
    _check(x, tick.step)


def _fetch(tick: Any) -> None:
    _check(tick.fetch(FIELD), tick.step)


def _check(x: Any, step: int) -> None:
    if not x[0] == x[-1] == step:
        raise RuntimeError(f"tick {step} has {x[0]} and {x[-1]} in its field")


class Kernels:
    """A kernel on each slot's field of so many elements, recorded at the first tick in that slot."""

    def __init__(self, gpu: Cuda, elements: int) -> None:
        self._gpu, self._elements = gpu, elements
        self._plans: dict[int, sn.Plan] = {}
        self._recorded(sn.zeros(elements, float, device=gpu)).run()  # compiled before the first tick

    def __call__(self, tick: Any) -> None:
        """Run the kernel on a tick's field, to its end."""
        x = tick[FIELD]
        if x.ptr not in self._plans:
            self._plans[x.ptr] = self._recorded(x)
        self._plans[x.ptr].run()

    def _recorded(self, x: Any) -> sn.Plan:
        plan = sn.Plan(self._gpu)
        y = sn.zeros(self._elements, float, device=self._gpu)
        plan.launch(field.consume, dim=self._elements, inputs=[x], outputs=[y])
        plan.freeze()
        return plan


def bare_fetch(gpu: Cuda, nbytes: int) -> Take:
    """Copy a field to pinned memory by the driver's own functions, and wait for the end of it."""
    copy, wait = _COPY(pointer("cuMemcpyDtoHAsync")), _WAIT(pointer("cuStreamSynchronize"))
    memory = gpu.pinned(nbytes)
    into, stream = ctypes.addressof(ctypes.c_ubyte.from_buffer(memory)), int(gpu.stream)

    def fetch(tick: Any) -> None:
        copy(into, tick[FIELD].ptr, nbytes, stream)
        wait(stream)

    return fetch


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
