"""What a tick costs on a GPU: a plan of small kernels from its call to its end, and how punctual a plant there is.

The plan has 20 kernels of 256 threads, each of which reads what the one before wrote. Beside it, in the same run, each
waiting for the end as well: ``bare``, a CUDA graph of as many empty kernels by nothing but driver calls, in whichever
of the two ways of ``bare_graph`` is faster; Warp's and CuPy's captured graphs of the same kernels. The thread's current
context is the device's for all of them. The plant is the quarter-car, under the clocks of the bench on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import sim_node as sn
from sim_node.cli.benches import chain
from sim_node.cli.benches.bare_graph import bare_graph
from sim_node.cli.benches.measurement import Measurement, alternated_ns, quantiles
from sim_node.cli.benches.peers import started
from sim_node.cli.benches.tick import CLOCKS, account
from sim_node.device.cuda import Cuda
from sim_node.device.names import DEFAULT, Device
from sim_node.runtime.trace import Trace

KERNELS = 20
THREADS = 256


class Chain(NamedTuple):
    """A contender's chain of kernels: what runs it to its end, and what reads the array that the last one writes."""

    tick: Callable[[], object]
    read: Callable[[], Any]


class Ours(NamedTuple):
    """The same, of ours, with its plan."""

    tick: Callable[[], object]
    read: Callable[[], Any]
    plan: sn.Plan


def run(gpu: Cuda, ticks: int = 5000, rounds: int = 20, repeats: int = 500) -> Measurement:
    """Measure µs of a plan's run and of the peers', launch to end, then lateness and step time of a plant.

    ``plan_to_bare`` is what a run takes by what the bare graph does; ``host`` what of it the host works until the GPU
    has it all. ``kernels`` are times between the GPU's events around each kernel of that name, in a plan with those.
    ``same_bits`` says whether the last kernel leaves what ours does on this GPU: a peer's, and ours on the CPU.
    """
    result = Measurement("tick", {"kernels": KERNELS, "threads": THREADS}, device=gpu)
    ours, reference = _ours(gpu), _ours(DEFAULT)
    peers = started({"warp": partial(_warp, gpu), "cupy": partial(_cupy, gpu)}, result)
    with bare_graph(gpu, KERNELS, THREADS) as bare, gpu.active():
        calls = {"plan": ours.tick, **bare, **{name: peer.tick for name, peer in peers.items()}}
        alternated_ns(calls, rounds=1, repeats=repeats)
        taken = alternated_ns(calls, rounds=rounds, repeats=repeats)
    times = {name: quantiles(each) for name, each in taken.items()}
    reference.tick()
    result.figures["plan"] = {**times["plan"], "same_bits": _equal(ours, reference), "host": _host(ours.plan, repeats)}
    result.figures["kernels"] = _kernels(gpu, repeats)
    fastest = min(bare, key=lambda way: times[way]["p50_us"])
    result.peers["bare"] = {"way": fastest, **times[fastest], "ways": {way: times[way] for way in bare}}
    for name, peer in peers.items():
        result.peers[name] |= {**times[name], "same_bits": _equal(peer, ours)}
    for key in ("p50", "p99"):
        took = times["plan"][f"{key}_us"]
        result.ratios[f"plan_to_bare_{key}"] = round(took / times[fastest][f"{key}_us"], 3)
        for name in peers:
            result.ratios[f"{name}_{key}_vs_plan"] = round(times[name][f"{key}_us"] / took, 2)
    for name, clock in CLOCKS.items():
        result.figures[name] = account(clock, ticks, gpu)
    return result


def _host(plan: sn.Plan, repeats: int) -> dict[str, float]:
    """Describe what the host works in a run before it waits."""
    worked = []
    for _ in range(repeats):
        plan.run()
        worked.append(plan.host_ns)
    return quantiles(worked)


def _kernels(gpu: Cuda, repeats: int) -> dict[str, dict[str, float]]:
    """Describe what each kernel takes, by the name of it."""
    trace = Trace()
    plan = _ours(gpu, trace).plan
    taken: dict[str, list[int]] = {}
    for _ in range(repeats):
        plan.run()
        for begin, end, _, number in trace.spans().tolist():
            taken.setdefault(plan.launches[number].kernel.name, []).append(end - begin)
    return {name: quantiles(each) for name, each in taken.items()}


def _equal(one: Chain | Ours, other: Chain | Ours) -> bool:
    return bool(np.array_equal(one.read(), other.read()))


def _ours(device: Device, trace: Trace | None = None) -> Ours:
    """Record a plan; its run waits for its end, since its kernels check their indices."""
    arrays = [sn.array(chain.start(THREADS), dtype=float, device=device)]
    arrays += [sn.zeros(THREADS, dtype=float, device=device) for _ in range(KERNELS)]
    plan = sn.Plan(device, trace)
    for x, y in pairwise(arrays):
        plan.launch(chain.link, dim=THREADS, inputs=[x], outputs=[y])
    plan.freeze()
    return Ours(plan.run, arrays[-1].numpy, plan)


def _warp(gpu: Cuda) -> tuple[str, Chain]:
    wp, link = chain.warp()
    arrays = [wp.array(chain.start(THREADS), dtype=float, device=gpu.name) for _ in range(KERNELS + 1)]

    def launch() -> None:
        for x, y in pairwise(arrays):
            wp.launch(link, THREADS, inputs=[x, y], device=gpu.name)

    launch()  # compiles it, which a capture need not allow
    stream = wp.get_stream(gpu.name)
    wp.synchronize_stream(stream)
    wp.capture_begin(device=gpu.name)
    try:
        launch()
    finally:
        graph = wp.capture_end(device=gpu.name)

    def tick() -> None:
        wp.capture_launch(graph)
        wp.synchronize_stream(stream)

    tick()
    return str(wp.__version__), Chain(tick, lambda: arrays[-1].numpy())


def _cupy(gpu: Cuda) -> tuple[str, Chain]:
    cupy, link = chain.cupy()
    cupy.cuda.Device(gpu.ordinal).use()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        arrays = [cupy.asarray(chain.start(THREADS)) for _ in range(KERNELS + 1)]
        link(arrays[0], arrays[1])  # compiles it, which a capture does not allow
        stream.synchronize()
        stream.begin_capture()
        for x, y in pairwise(arrays):
            link(x, y)
        graph = stream.end_capture()

    def tick() -> None:
        graph.launch(stream)
        stream.synchronize()

    tick()
    return str(cupy.__version__), Chain(tick, lambda: cupy.asnumpy(arrays[-1]))
