"""How a process is asked to end: by SIGINT and SIGTERM."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_requested() -> Iterator[threading.Event]:
    """Give an event that SIGINT and SIGTERM set, in place of what they did before."""
    event = threading.Event()
    before = {number: signal.signal(number, lambda *_: event.set()) for number in STOP_SIGNALS}
    try:
        yield event
    finally:
        for number, handling in before.items():
            signal.signal(number, handling)
