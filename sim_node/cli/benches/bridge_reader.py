"""The reading process of the bridge bench: takes ticks by the public Subscriber and prints their ages as JSON."""

from __future__ import annotations

import json
import sys

from sim_node.bridge import Subscriber
from sim_node.errors import RingError


def main(name: str, spin_us: int, ticks: int) -> None:
    """Read until the producer closes; print ``ready``, then a list of ages in ns, commit to view."""
    ages: list[int] = []
    with Subscriber(name, timeout=10.0) as subscriber:
        print("ready", flush=True)
        try:
            for _ in range(ticks):
                with subscriber.next(timeout=2.0, spin_us=spin_us) as tick:
                    tick["state"]
                    ages.append(tick.age_ns)
        except RingError:
            pass  # closed by the producer: the ticks missed while starting are not latencies
    print(json.dumps(ages))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
