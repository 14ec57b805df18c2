"""The other readers of the bridge bench: processes that wait by futex and take ticks, each at its own pace."""

from __future__ import annotations

import os
import signal
import sys
import time

from sim_node.bridge import Subscriber
from sim_node.errors import RingError

FASTEST_S = 0.02


def main(name: str, count: int) -> None:
    """Read in so many processes until standard input ends; print ``ready`` when each has its place in the ring."""
    ready, told = os.pipe()
    readers = []
    for i in range(count):
        reader = os.fork()
        if reader == 0:
            try:
                read(name, FASTEST_S + i * 1e-3, told)
            finally:
                os._exit(0)
        readers.append(reader)
    for _ in readers:
        os.read(ready, 1)
    print("ready", flush=True)
    sys.stdin.read()
    for reader in readers:
        os.kill(reader, signal.SIGKILL)
        os.waitpid(reader, 0)


def read(name: str, pace_s: float, told: int) -> None:
    """Take a tick, then pause; the end of the ring ends it."""
    with Subscriber(name, timeout=10.0) as subscriber:
        os.write(told, b".")
        while True:
            try:
                with subscriber.next(timeout=5.0) as tick:
                    tick["state"]
            except RingError:
                return
            time.sleep(pace_s)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
