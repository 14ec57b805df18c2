"""Hands damaged and hostile rings, layouts, handles and commands to all that reads them, and counts what was refused.

`python scripts/fuzz_ring.py --rounds 1000000` ends at the first that does anything but work or say what is wrong: a
crash, a step outside of the mapping (pages that cannot be touched lie around it), an exception that is none of ours.
Segments are tried in C, plain and under AddressSanitizer and UBSan with a tenth of the rounds; layouts and handles in
Python, with as many.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

from sim_node import dtypes
from sim_node._native import Ring
from sim_node.bridge import Handle, Publisher, Subscriber
from sim_node.bridge.transports import posix_shm
from sim_node.errors import RingError
from sim_node.layout import Layout

ROOT = Path(__file__).resolve().parent.parent
ASAN = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
LAYOUT = Layout.of([("position", dtypes.vec3, (4,), "m"), ("load", dtypes.float32, (5,), "N")])
INPUTS = Layout.of([("force", dtypes.float32, (10,), "N")])
# what stands in a text where a number or a word was
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 64, 2**31, 2**63, 2**64, 10**40, 1.5, float("nan")),
    *("", "x", "f32", "vec3", "mat99f", "\x00", "é" * 300),
    *([], [0], [2**62, 0, 2**62], [1] * 40, {}, {"name": 1}, [[]]),
)


def segments(rounds: int, seed: int, flags: tuple[str, ...] = ()) -> dict[str, Any]:
    """Run the C test of damaged segments for so many rounds; RuntimeError with what it said when it fails."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "test_ring_corrupt"
        source = ROOT / "test" / "native" / "test_ring_corrupt.c"
        command = [*os.environ.get("CC", "cc").split(), "-std=c11", "-D_GNU_SOURCE", "-O2", "-g", *flags]
        subprocess.run([*command, f"-I{ROOT / 'include'}", str(source), "-o", str(program)], check=True)
        done = subprocess.run([program, str(rounds), str(seed)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"seed {seed}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def damaged(text: str, random: Random) -> bytes:
    """Damage a layout's text: a value replaced, bytes changed, or a piece of it left out or repeated."""
    kind = random.randrange(4)
    if kind < 2:
        body = json.loads(text)
        place: Any = body
        while True:
            key = random.choice(list(place) if isinstance(place, dict) else range(len(place)))
            inner = place[key]
            if not (isinstance(inner, dict | list) and inner) or random.random() < 0.2:
                break
            place = inner
        place[key] = random.choice(VALUES)
        return json.dumps(body, sort_keys=True, separators=(",", ":")).encode("utf-8", "surrogatepass")
    raw = bytearray(text.encode())
    if kind == 2:
        for _ in range(random.randint(1, 6)):
            raw[random.randrange(len(raw))] = random.choice((random.randrange(256), *b'{}[]",:0189-e'))
        return bytes(raw)
    begin, length = random.randrange(len(raw)), random.randint(1, 80)
    piece = raw[begin : begin + length]
    return bytes(
        raw[:begin] + random.choice((b"", piece * random.randint(2, 9), b"[" * 100_000)) + raw[begin + length :]
    )


def layouts(rounds: int, random: Random) -> Counter[str]:
    """Read rings whose segment is in order and whose texts are damaged, digest and all."""
    found: Counter[str] = Counter()
    name = f"fuzz_ring.{os.getpid()}"
    good = LAYOUT.text(), INPUTS.text()
    for _ in range(rounds):
        first = random.random() < 0.6
        layout, inputs = (
            damaged(text, random) if chosen else text.encode() for text, chosen in zip(good, (first, not first))
        )
        sizes = tuple(field.nbytes for field in INPUTS)
        size = Ring.size(2, LAYOUT.size, sizes, len(layout), len(inputs))
        digest = hashlib.sha256(layout).digest()

        def form(memory: Any, generation: int) -> Ring:
            return Ring.create(memory, 2, LAYOUT.size, sizes, generation, digest, layout, inputs)  # noqa: B023

        segment = posix_shm.create(name, size, form)
        try:
            segment.ring.commit(segment.ring.next(), 1, 1, 0)
            found[_tried(lambda: _read(name))] += 1
        finally:
            segment.ring.close()
            posix_shm.remove(segment)
    return found


def _read(name: str) -> None:
    with Subscriber(name, timeout=0.0) as subscriber:
        with subscriber.next(timeout=0.0) as tick:
            for field in tick.keys():  # noqa: SIM118 (a tick has no iterator)
                np.asarray(tick[field]).copy()
        for given in subscriber.inputs:
            subscriber.command(given.name)[...] = 0
            subscriber.send(given.name)


def handles(rounds: int, random: Random) -> Counter[str]:
    """Open a ring by messages of which members are damaged or of another ring's life."""
    found: Counter[str] = Counter()
    with Publisher(LAYOUT, INPUTS, f"fuzz_ring.{os.getpid()}") as publisher:
        publisher.next().commit(1, 1)
        ring = publisher.ring
        good = {
            "transport": publisher.transport,
            "segment": publisher.name,
            "layout_digest": LAYOUT.digest,
            **{name: getattr(ring, name) for name in ("generation", "owner_pid", "owner_start", "owner_uid", "slots")},
            "boot_id": Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
        }
        for _ in range(rounds):
            members = dict(good)
            for name in random.sample(sorted(good), random.randint(0, 2)):
                value = good[name]
                near = (
                    value ^ 1 << random.randrange(64)
                    if isinstance(value, int)
                    else value[: random.randrange(len(value))]
                )
                members[name] = random.choice((near, *VALUES))
            message = SimpleNamespace(**members)
            outcome = _tried(lambda: Subscriber(Handle.of(message)).close())  # noqa: B023
            if outcome == "taken" and members != good:
                raise RuntimeError(f"a handle of another life was taken: {members}")
            found[outcome] += 1
    return found


def _tried(use: Callable[[], object]) -> str:
    """Use something damaged; any error but ours is a fault."""
    try:
        use()
    except RingError:
        return "refused"
    return "taken"


def main(rounds: int, seed: int) -> dict[str, Any]:
    """Try all; returns counts and seconds."""
    begin, few = time.monotonic(), max(rounds // 10, 1)
    return {
        "seed": seed,
        "segments": segments(rounds, seed),
        "segments_asan": segments(few, seed + 1, ASAN),
        "layouts": dict(layouts(few, Random(seed))),
        "handles": dict(handles(few, Random(seed))),
        "seconds": round(time.monotonic() - begin, 1),
    }


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    words.add_argument("--rounds", type=int, default=1_000_000, help="segments in C; of the others a tenth")
    words.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    given = words.parse_args()
    json.dump(main(given.rounds, given.seed), sys.stdout, indent=1)
    print()
