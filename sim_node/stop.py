"""How a process is asked to end: by SIGINT and SIGTERM."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def end_at_the_first() -> None:
    """Have the first of SIGINT and SIGTERM raise KeyboardInterrupt in this process, and those behind it do nothing.

    A launch file passes on the Ctrl-C that the terminal has sent already: the second must not spoil an orderly end. One
    that ``stop_requested`` took is the first, too. They are ignored, not just handled in vain, since Python gives up
    its handlers before it has ended.
    """
    for number in STOP_SIGNALS:
        signal.signal(number, _interrupt)


def _interrupt(_number: int, _place: object) -> None:
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


@contextmanager
def stop_requested() -> Iterator[threading.Event]:
    """Give an event that SIGINT and SIGTERM set, in place of what they did before."""
    event = threading.Event()

    def request(_number: int) -> None:
        event.set()
        afterwards.update((number, signal.SIG_IGN) for number in STOP_SIGNALS if afterwards[number] is _interrupt)

    with handled(request) as afterwards:
        yield event


@contextmanager
def handled(act: Callable[[int], object]) -> Iterator[dict[signal.Signals, Any]]:
    """Have SIGINT and SIGTERM call this with their number inside the block, in place of what they did before.

    Gives what they will do behind the block.
    """
    afterwards = {number: signal.signal(number, lambda one, _: act(one)) for number in STOP_SIGNALS}
    try:
        yield afterwards
    finally:
        for number, handling in afterwards.items():
            signal.signal(number, handling)
