"""How a process is asked to end: by SIGINT and SIGTERM."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_asked = threading.Event()  # this process, to end


def end_at_the_first() -> None:
    """Have the first of SIGINT and SIGTERM raise KeyboardInterrupt in this process, and those behind it do nothing.

    A launch file passes on the Ctrl-C that the terminal has sent already: the second must not spoil an orderly end. One
    that ``stop_requested`` took is the first, too.
    """

    def interrupt(_number: int, _place: object) -> None:
        if not _asked.is_set():
            _asked.set()
            raise KeyboardInterrupt

    for number in STOP_SIGNALS:
        signal.signal(number, interrupt)


@contextmanager
def stop_requested() -> Iterator[threading.Event]:
    """Give an event that SIGINT and SIGTERM set, in place of what they did before."""
    event = threading.Event()

    def request(_number: int) -> None:
        _asked.set()
        event.set()

    with handled(request):
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
