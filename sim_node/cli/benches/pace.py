"""The pace of the bridge bench: 1 kHz."""

from __future__ import annotations

import time
from collections.abc import Iterator

PERIOD_S = 1e-3


def paced(count: int) -> Iterator[int]:
    """Count from 1, a number each millisecond; who is late catches up."""
    due = time.monotonic()
    for step in range(1, count + 1):
        due += PERIOD_S
        time.sleep(max(due - time.monotonic(), 0.0))
        yield step
