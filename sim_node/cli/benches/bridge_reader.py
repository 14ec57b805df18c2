"""The reading process of the bridge bench: takes ticks by the public Subscriber and prints their ages as JSON."""

from __future__ import annotations

import json
import sys
import time

import numpy as np

from sim_node.bridge import Subscriber


def main(name: str, spin_us: int, last: int) -> None:
    """Read until tick ``last``; print ``ready``, then ages in ns: since the commit and since the producer's call."""
    wake: list[int] = []
    call: list[int] = []
    with Subscriber(name, timeout=10.0) as subscriber:
        if (old := subscriber.latest()) is not None:
            old.release()  # of before this reader
        print("ready", flush=True)
        step = 0
        while step < last:
            with subscriber.next(timeout=2.0, spin_us=spin_us) as tick:
                state = tick["state"]
                age, now = tick.age_ns, time.monotonic_ns()
                step = tick.step
                wake.append(age)
                call.append(now - int(state[:2].view(np.int64)[0]))
    print(json.dumps({"wake": wake, "call": call}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
