"""Compare what two devices compute, bit for bit: every function and operator of the language, on hashes of results.

    python scripts/compare_devices.py [--devices cpu cuda:0] [--only NAME …] [--inputs N] [--jobs J] [--json] [--save]

A kernel makes its operands and hashes its results as the state of a plant is hashed, so only sums leave the device:
one-argument functions of up to 32 bits on all inputs, others on 20 million. Of hashes that differ, the first input is
found that does it, and told with what each device made of it. Ends with 1 if any function differs.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import sim_node as sn

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import device_case  # noqa: E402
import device_cases  # noqa: E402

from sim_node.cli.benches import machine  # noqa: E402
from sim_node.device.cuda import Cuda  # noqa: E402
from sim_node.device.names import get_device  # noqa: E402
from sim_node.errors import SimNodeError  # noqa: E402

BITS = ROOT / "docs" / "measurements" / "device_bits.json"
BLOCK = 2**24  # inputs that are hashed at once
EACH = 64  # of them by one thread
SLICE = 16  # blocks that are one piece of work of a process
WORDS = 512  # room for the operands and results of one input

CASES = device_cases.CASES
Hash = Callable[[int, int], int]


class Side:
    """A case on a device."""

    def __init__(self, case: device_case.Case, device: str) -> None:
        self.device = device
        self.kernel, self.shown = device_case.kernels(case)
        special = sn.array(np.array(case.specials, np.uint64), device=device)
        self.given = [special, sn.array(np.linspace(0, 1, 64, dtype=np.float32), device=device)]
        self.sums = sn.zeros(0, sn.uint64, device=device)

    def hash(self, first: int, count: int) -> int:
        """Hash the results of ``count`` inputs from ``first`` on."""
        threads, rest = divmod(count, EACH)
        total = self._hash(first, threads, EACH) if threads else 0
        return (total + (self._hash(first + threads * EACH, rest, 1) if rest else 0)) % 2**64

    def _hash(self, first: int, threads: int, each: int) -> int:
        if self.sums.shape != (threads,):
            self.sums = sn.zeros(threads, sn.uint64, device=self.device)
        sn.launch(self.kernel, threads, [first, threads, each, *self.given], [self.sums], device=self.device)
        return int(self.sums.numpy().sum(dtype=np.uint64))

    def words(self, n: int) -> tuple[list[str], list[str]]:
        """Bits of the operands and of the results of an input."""
        out, counts = sn.zeros(WORDS, sn.uint64, device=self.device), sn.zeros(2, int, device=self.device)
        sn.launch(self.shown, 1, [n, *self.given], [out, counts], device=self.device)
        bits, (operands, end) = [hex(word) for word in out.numpy().tolist()], counts.numpy().tolist()
        return bits[:operands], bits[operands:end]


def first_difference(one: Hash, other: Hash, first: int, count: int) -> int:
    """Find the first input whose results differ, of some whose hashes do."""
    while count > 1:
        half = count // 2
        if one(first, half) == other(first, half):
            first, count = first + half, count - half
        else:
            count = half
    return first


@cache
def side(name: str, device: str) -> Side:
    """A case on a device, built once a process."""
    return Side(CASES[name], device)


def blocks(count: int) -> list[tuple[int, int]]:
    """First input and length of each block."""
    return [(first, min(BLOCK, count - first)) for first in range(0, count, BLOCK)]


def hashes(name: str, device: str, parts: Sequence[tuple[int, int]]) -> list[int] | str:
    """Hash some blocks of a case on a device; the message of an error, so that the other cases go on."""
    try:
        return [side(name, device).hash(first, count) for first, count in parts]
    except SimNodeError as error:
        return str(error)


@dataclass
class Found:
    """What was compared of a case: inputs, the hash of all on each device or its error, the first that differs."""

    inputs: int
    hashes: dict[str, str]
    equal: bool
    exhaustive: bool
    differs: dict[str, Any] | None = None


def compared(name: str, count: int, each: dict[str, list[int] | str]) -> Found:
    """Compare the hashes of blocks on devices; a function that ends with an error on either is not equal."""
    sums = {device: found if isinstance(found, str) else f"{sum(found) % 2**64:016x}" for device, found in each.items()}
    (one, here), (other, there) = each.items()
    failed = isinstance(here, str) or isinstance(there, str)
    exhaustive = count == CASES[name].inputs and CASES[name].exhaustive
    result = Found(count, sums, not failed and here == there, exhaustive)
    if not result.equal and not failed:
        at = next(block for block, left, right in zip(blocks(count), here, there, strict=True) if left != right)
        sides = {device: side(name, device) for device in each}
        n = first_difference(sides[one].hash, sides[other].hash, *at)
        told = {device: its.words(n) for device, its in sides.items()}
        # operands are made on the device, so they may be what differs
        operands = {device: words for device, (words, _) in told.items()}
        result.differs = {
            "input": n,
            "operands": operands,
            "results": {name: words for name, (_, words) in told.items()},
        }
    return result


class Progress:
    """Lines on stderr that tell how far a run is."""

    def __init__(self, count: int) -> None:
        self.count, self.began, self.told = count, time.monotonic(), 0

    def __call__(self, what: str, done: int) -> None:
        """Say it, not more than about twenty times."""
        tenth = done * 20 // self.count
        if tenth != self.told:
            self.told = tenth
            seconds = time.monotonic() - self.began
            print(f"{what}: {done} of {self.count} functions, {seconds:.0f} s", file=sys.stderr, flush=True)


def run(names: Sequence[str], devices: Sequence[str], most: int, jobs: int) -> dict[str, Found]:
    """Compare cases on two devices: those of the host in processes, a GPU in this one."""
    counts = {name: min(most, CASES[name].inputs) for name in names}
    gpus = [device for device in devices if get_device(device).is_cuda]
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            later = {device: _submitted(pool, counts, device) for device in devices if device not in gpus}
            here: dict[str, dict[str, list[int] | str]] = {device: {} for device in gpus}
            for device in gpus:
                progress = Progress(len(names))
                for done, name in enumerate(names, 1):
                    here[device][name] = hashes(name, device, blocks(counts[name]))
                    progress(device, done)
            progress, found = Progress(len(names)), {}
            for done, name in enumerate(names, 1):
                each = {
                    device: here[device][name] if device in here else _waited(later[device][name]) for device in devices
                }
                found[name] = compared(name, counts[name], each)
                progress("compared", done)
            return found
        finally:
            pool.shutdown(cancel_futures=True)


Parts = list[Future["list[int] | str"]]


def _submitted(pool: ProcessPoolExecutor, counts: dict[str, int], device: str) -> dict[str, Parts]:
    """Give the processes the blocks: first those that each case begins with, so that each is built by one of them."""
    parts = {name: blocks(count) for name, count in counts.items()}
    made: dict[str, Parts] = {name: [] for name in counts}
    for first in range(0, max(map(len, parts.values())), SLICE):
        for name, its in parts.items():
            if first < len(its):
                made[name].append(pool.submit(hashes, name, device, its[first : first + SLICE]))
    return made


def _waited(parts: Parts) -> list[int] | str:
    found: list[int] = []
    for part in parts:
        result = part.result()
        if isinstance(result, str):
            return result
        found += result
    return found


def report(found: dict[str, Found], devices: Sequence[str], seconds: float) -> dict[str, Any]:
    """What was compared, and on what machine."""
    gpus = [device for device in map(get_device, devices) if isinstance(device, Cuda)]
    return {
        "machine": machine.describe(*gpus[:1]),
        "devices": list(devices),
        "seconds": round(seconds, 1),
        "equal": all(one.equal for one in found.values()),
        "functions": {
            name: {
                "inputs": one.inputs,
                "exhaustive": one.exhaustive,
                **one.hashes,
                "equal": one.equal,
                **({"differs": one.differs} if one.differs else {}),
            }
            for name, one in found.items()
        },
    }


def main(argv: list[str] | None = None) -> int:
    """Compare; exit code 1 if a function differs, 2 if a device cannot be used."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", nargs=2, default=["cpu", "cuda:0"], metavar="DEVICE")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="functions by name, or by how their names begin")
    parser.add_argument("--inputs", type=int, default=2**32, help="of each function at most")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes of the CPU's half")
    parser.add_argument("--json", action="store_true", help="print all that was found as JSON")
    parser.add_argument("--save", action="store_true", help=f"write it to {BITS.relative_to(ROOT)}")
    options = parser.parse_args(argv)
    names = [name for name in CASES if not options.only or name.startswith(tuple(options.only))]
    if not names:
        parser.error(f"no function is called {' or '.join(options.only)}")
    if options.inputs < 1 or options.jobs < 1:
        parser.error("--inputs and --jobs are at least 1")
    if options.devices[0] == options.devices[1]:
        parser.error("name two devices")
    devices, began = options.devices, time.monotonic()
    try:
        found = run(names, devices, options.inputs, options.jobs)
    except SimNodeError as error:
        print(error, file=sys.stderr)
        return 2
    told = report(found, devices, time.monotonic() - began)
    if options.save:
        BITS.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if options.json:
        print(json.dumps(told, indent=1, ensure_ascii=False))
    else:
        _print(found, devices, told["seconds"])
    return 0 if told["equal"] else 1


def _print(found: dict[str, Found], devices: Sequence[str], seconds: float) -> None:
    for name, one in found.items():
        if not one.equal:
            print(f"{name}: {one.differs or one.hashes}")
    wrong, inputs = sum(not one.equal for one in found.values()), sum(one.inputs for one in found.values())
    every = sum(one.exhaustive for one in found.values())
    print(
        f"{len(found)} functions, {every} of them on all inputs, {inputs} inputs in all, on {' and '.join(devices)}: "
        f"{wrong or 'none'} differ, in {seconds:.0f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
