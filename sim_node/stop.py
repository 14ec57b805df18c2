"""How a process is asked to end: by SIGINT and SIGTERM."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_requested() -> Iterator[threading.Event]:
    """Give an event that SIGINT and SIGTERM set, in place of what they did before."""
    event = threading.Event()
    with handled(lambda _: event.set()):
        yield event


@contextmanager
def handled(act: Callable[[int], object]) -> Iterator[None]:
    """Have SIGINT and SIGTERM call this with their number inside the block, in place of what they did before."""
    before = {number: signal.signal(number, lambda one, _: act(one)) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handling in before.items():
            signal.signal(number, handling)
