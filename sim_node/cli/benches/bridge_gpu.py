"""How a plant on a GPU reaches readers: its kernels write into their memory, they copy by DMA, or run own kernels.

A tick is one kernel that writes its number to each element of the field, at 1 kHz, and back to back. ``host``: from the
producer's call of the tick until another process has the field in hand, where kernels write it; ``own`` until that call
is back, so that the producer's own host knows. ``looked``, ``fetch`` and ``kernel``: from when another process has seen
the tick until it has looked at the field on the host, has copied it by DMA, or has run a kernel on it to its end;
``same_process``: the same kernel in the producer. Beside them ``bare``, by nothing but driver calls in the same run: a
kernel that sets a flag, to where its own host sees that; the same copy; an empty kernel in the same place.
``beyond_own_us`` and ``beyond_bare_us`` of ``host``: how much later another process has it than the producer's host
knows of it, and than bare calls tell theirs. ``vs_rclpy_1MB`` is a message of rclpy and the copy to the host that it
needs, over what hands ours over: the look, or what the way to it takes beyond a bare flag where that is more.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import sim_node as sn
from sim_node.bridge import Publisher, Subscriber
from sim_node.cli.benches import bridge_peers, field
from sim_node.cli.benches.bare_flag import bare_flag
from sim_node.cli.benches.bare_graph import bare_graph
from sim_node.cli.benches.bridge_gpu_reader import SPIN_US, Kernels
from sim_node.cli.benches.measurement import Measurement, quantiles
from sim_node.cli.benches.pace import paced
from sim_node.cli.benches.processes import answer, module, started, until_ready
from sim_node.device.cuda import Cuda
from sim_node.plant import Plant, Stepper

SIZES = {"4kB": 4 << 10, "64kB": 64 << 10, "1MB": 1 << 20}
WAYS = {"host": "host", "fetch": "device", "kernel": "device"}  # of another process, and where the field is for it
FREE = 10  # times as many ticks where they are back to back
WARM = 20  # ticks that are not counted

Samples = defaultdict[str, list[int]]


def run(gpu: Cuda, ticks: int = 1000) -> Measurement:
    """Measure µs for each size, pace and way; ``bare`` is the peer of the same names."""
    result = Measurement("bridge", device=gpu)
    ours, bare = Samples(list), Samples(list)
    for size, nbytes in SIZES.items():
        for pace, count in (("1kHz", ticks), ("free", FREE * ticks)):
            with bare_flag(gpu, nbytes) as signal, gpu.active():
                bare[f"flag_{size}_{pace}"] += [_timed(signal) for _ in _pace(pace, count + WARM)][WARM:]
            for way in WAYS:
                _other_process(gpu, way, nbytes, pace, count, f"{size}_{pace}", ours, bare)
            _same_process(gpu, nbytes, pace, count, f"{size}_{pace}", ours, bare)
    result.figures.update({name: quantiles(samples) for name, samples in ours.items()})
    result.peers["bare"] = {name: quantiles(samples) for name, samples in bare.items()}
    _compare(result.figures, result.peers["bare"])
    result.peers["rclpy"] = bridge_peers.rclpy()
    result.ratios.update(ratios(result.figures, result.peers))
    return result


def _compare(figures: dict[str, Any], bare: dict[str, Any]) -> None:
    """Note how much later, by the medians, another process has a field than the producer's host and bare calls tell."""
    for name, values in figures.items():
        if name.startswith("host_"):
            at = name.removeprefix("host")
            values["beyond_own_us"] = round(values["p50_us"] - figures[f"own{at}"]["p50_us"], 1)
            values["beyond_bare_us"] = round(values["p50_us"] - bare[f"flag{at}"]["p50_us"], 1)


def ratios(figures: dict[str, Any], peers: dict[str, dict[str, Any]]) -> dict[str, float]:
    """Divide our medians by those of the driver's calls, and rclpy's by ours."""
    bare, found = peers["bare"], dict[str, float]()
    for name, values in figures.items():
        if other := bare.get(name.replace("host_", "flag_")):
            found[f"{name}_to_bare"] = round(values["p50_us"] / other["p50_us"], 3)
    message = peers["rclpy"].get("message_1MB", {}).get("p50_us")
    if message:
        copied = message + figures["fetch_1MB_1kHz"]["p50_us"]
        handed = max(figures["host_1MB_1kHz"]["beyond_bare_us"], figures["looked_1MB_1kHz"]["p50_us"])
        found["vs_rclpy_1MB"] = round(copied / handed, 1)
    return found


def _pace(pace: str, ticks: int) -> Iterator[int]:
    return paced(ticks) if pace == "1kHz" else iter(range(1, ticks + 1))


def _timed(call: Any) -> int:
    begin = time.monotonic_ns()
    call()
    return time.monotonic_ns() - begin


def _made(gpu: Cuda, nbytes: int, place: str) -> tuple[Publisher, Stepper]:
    """Make a ring, and a plant on the GPU whose one field has its readers on the host or on the device."""

    class Counted(Plant):
        x = sn.state(sn.float32, shape=(nbytes // 4,), publish=place)

        def build(self, plan: sn.Plan, _dt: float) -> None:
            plan.launch(field.count, dim=nbytes // 4, inputs=[self.x], outputs=[self.x.next])

    plant = Counted()
    publisher = Publisher(
        plant.host_layout,
        plant.input_layout,
        f"bench.{os.getpid()}",
        device_layout=plant.device_layout,
        device=gpu,
    )
    return publisher, Stepper(plant, dt_ns=1_000_000, ring=publisher.ring, slots=publisher.exported, device=gpu)


def _other_process(
    gpu: Cuda, way: str, nbytes: int, pace: str, ticks: int, name: str, ours: Samples, bare: Samples
) -> None:
    publisher, stepper = _made(gpu, nbytes, WAYS[way])
    begun, known = [0], [0]  # by the number of the tick
    with publisher, started(module("bridge_gpu_reader", publisher.name, way, gpu.name, ticks)) as reader:
        until_ready(reader)
        for _ in _pace(pace, ticks):
            begun.append(time.monotonic_ns())
            stepper.tick(1)
            known.append(time.monotonic_ns())
        said = answer(reader)
    for step, seen, ended in said["ours"][WARM:]:
        if way == "host":
            ours[f"host_{name}"].append(ended - begun[step])
            ours[f"own_{name}"].append(known[step] - begun[step])
            ours[f"looked_{name}"].append(ended - seen)
        else:
            ours[f"{way}_{name}"].append(ended - seen)
    for _, seen, ended in said.get("bare", [])[WARM:]:
        bare[f"{way}_{name}"].append(ended - seen)


def _same_process(gpu: Cuda, nbytes: int, pace: str, ticks: int, name: str, ours: Samples, bare: Samples) -> None:
    publisher, stepper = _made(gpu, nbytes, "device")
    with publisher, Subscriber(publisher) as subscriber, bare_graph(gpu, 1, 256) as empty, gpu.active():
        run = Kernels(gpu, nbytes // 4)
        for step in _pace(pace, ticks):
            stepper.tick(1)
            begin = time.monotonic_ns()
            with subscriber.next(spin_us=SPIN_US) as tick:
                if step % 2:
                    run(tick)
                else:
                    empty["pointers"]()
                took = time.monotonic_ns() - begin
            if step > WARM:
                (ours if step % 2 else bare)[f"same_process_{name}"].append(took)
