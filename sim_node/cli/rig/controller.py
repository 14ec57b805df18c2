"""The demo's controller, a process of its own: a skyhook damper that reads the ring in place and answers each tick.

Skyhook: the damper force that a damper between the body and the sky would make, -c·v of the body's velocity (Karnopp,
Crosby, Harwood 1974, "Vibration Control Using Semi-Active Force Generators"); the plant's semi-active damper gives the
part of it that takes energy out.
"""

from __future__ import annotations

import json
import sys

import numpy as np

from sim_node.bridge import Subscriber
from sim_node.errors import RingError

SKYHOOK = -3000.0  # N s/m
SILENCE = 0.5  # s without a tick after the producer has gone


def main(ring: str, spin_us: float) -> None:
    """Print ``ready``, control until the producer closes the ring, then print what was measured as JSON.

    Keys: ``ages_ns``, from the commit of each tick to this process having it in hand, and the subscriber's counts.
    """
    ages: list[int] = []
    with Subscriber(ring, timeout=10.0) as subscriber:
        print("ready", flush=True)
        sys.stdin.readline()  # the clock starts
        try:
            while True:
                with subscriber.next(timeout=SILENCE, spin_us=spin_us) as tick:
                    velocity = tick["body_velocity"]
                    ages.append(tick.age_ns)
                    np.multiply(velocity, np.float32(SKYHOOK), out=subscriber.command("force"))
                subscriber.send("force")
        except RingError as end:
            print(end, file=sys.stderr)
        print(json.dumps({"ages_ns": ages, **subscriber.statistics()}))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
