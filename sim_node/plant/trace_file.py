"""``SIM_NODE_TRACE=file``: what a process did and when, as a file that Perfetto and Chrome's viewer open."""

from __future__ import annotations

import atexit
import fcntl
import json
import os
import stat
import time
import warnings
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, Protocol, TypeVar

import numpy as np

from sim_node.errors import PlantError
from sim_node.runtime.trace import CAPACITY, KERNEL, TICK, WORKS, Trace

VARIABLE = "SIM_NODE_TRACE"
PERIOD_S = 0.05  # a killed process leaves all but so much


class Source(Protocol):
    """Where events come from; ``ended`` when no more will."""

    ended: bool

    def end(self) -> None:
        """Tell that no more will come."""

    def events(self) -> Iterator[str]:
        """Take the events that wait."""


Made = TypeVar("Made", bound=Source)


class TraceFile:
    """A trace of this process, in the array form of the "Trace Event Format" (Chromium), times in µs.

    ``%p`` in the name is the number of the process. Each event is a line. A thread writes them 20 times a second, so
    what a killed process leaves lacks the last ones and the ``]``, which readers of the format do without.
    Raises PlantError where the file cannot be written, or another process writes it.
    """

    def __init__(self, path: str) -> None:
        self._path, self._owner = Path(path.replace("%p", str(os.getpid()))), os.getpid()
        self._tracks: dict[str, str] = {}
        self._sources: list[Source] = []
        self._waiting: list[str] = []
        self._right, self._ending = Lock(), Event()
        begin = json.dumps({"name": "process_name", "ph": "M", "pid": self._owner, "args": {"name": "sim_node"}})
        try:
            self._file = _alone(self._path, f"[\n{begin}")
        except BlockingIOError as fault:
            raise PlantError(
                f"{VARIABLE}={path}: another process writes {self._path}; %p in the name is the number of the process"
            ) from fault
        except OSError as fault:
            raise PlantError(f"{VARIABLE}={path}: {fault.strerror}; name a file in a folder that is there") from fault
        self._thread = Thread(target=self._run, name="sim_node trace", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def spans(self, name: str) -> Spans:
        """Begin a source of spans that Python leaves, on the track of that name."""
        with self._right:
            return self._begin(Spans(self._track(name)))

    def ticks(
        self, stepper: object, trace: Trace, name: str, plant: str, kernels: Sequence[str], substeps: int, on_gpu: bool
    ) -> Ticks:
        """Write what a stepper leaves in the trace, as long as it lives: ticks, and what a GPU does in them.

        Their tracks have the name, or else that of the plant, with a number where another living stepper has it.
        """
        with self._right:
            held = {source.name for source in self._sources if isinstance(source, Ticks) and not source.ended}
            numbered = (plant if number == 1 else f"{plant} {number}" for number in count(1))
            name = name or next(free for free in numbered if free not in held)
            tracks = [self._track(name), *([self._track(f"{name} on the GPU")] if on_gpu else [])]
            source = self._begin(Ticks(self, name, trace, kernels, substeps, tracks))
        weakref.finalize(stepper, source.end).atexit = False
        return source

    def write(self) -> None:
        """Write the events that wait; where that fails, warn, and trace no more."""
        if os.getpid() != self._owner:  # a forked child's events would stand among its parent's
            return
        with self._right:
            if self._file < 0:
                return
            ended = [source for source in self._sources if source.ended]  # before their last events are taken
            events = [event for source in self._sources for event in source.events()]
            for source in ended:
                self._sources.remove(source)
            lines, self._waiting = [*self._waiting, *events], []
            try:
                _append(self._file, ",\n".join(["", *lines]))
            except OSError as fault:
                self._end()
                warnings.warn(f"{VARIABLE}: {self._path} ends here: {fault.strerror}", RuntimeWarning, stacklevel=2)

    def close(self) -> None:
        """Write what waits, and end the file."""
        if os.getpid() != self._owner:
            return
        self._ending.set()
        self._thread.join()
        self.write()
        with self._right:
            if self._file >= 0:
                with suppress(OSError):
                    _append(self._file, "\n]\n")
                self._end()

    def _run(self) -> None:
        while not self._ending.wait(PERIOD_S):
            self.write()

    def _begin(self, source: Made) -> Made:
        if self._file >= 0:
            self._sources.append(source)
        else:
            source.end()
        return source

    def _end(self) -> None:
        os.close(self._file)
        self._file = -1
        self._ending.set()
        for source in self._sources:
            source.end()
        self._sources.clear()

    def _track(self, name: str) -> str:
        """Give what events of the track of that name say, which is one for the whole file."""
        if name not in self._tracks:
            number = len(self._tracks) + 1
            self._tracks[name] = f'"pid":{self._owner},"tid":{number}'
            for key, value in (("thread_name", {"name": name}), ("thread_sort_index", {"sort_index": number})):
                self._waiting.append(f'{{"name":"{key}","ph":"M",{self._tracks[name]},"args":{json.dumps(value)}}}')
        return self._tracks[name]


class Ticks:
    """Spans that a stepper leaves in a trace; its track, and where it has one that of its GPU."""

    def __init__(
        self, file: TraceFile, name: str, trace: Trace, kernels: Sequence[str], substeps: int, tracks: Sequence[str]
    ) -> None:
        self.name, self.ended = name, False
        self._file, self._trace, self._tracks, self._lost = file, trace, tracks, trace.lost
        self._works = [_begin(work, tracks[-1 if number >= KERNEL else 0]) for number, work in enumerate(WORKS)]
        self._kernels = [_begin(kernel, tracks[-1]) for kernel in kernels]
        self._most = max(1, CAPACITY // 2 // (len(WORKS) + (len(WORKS) + len(kernels)) * substeps))

    def parts(self, ticks: int) -> Iterator[int]:
        """Cut a number of ticks into some whose spans fit, and write those of each before the next."""
        while ticks > self._most:
            yield self._most
            ticks -= self._most
            self._file.write()
        yield ticks
        if self._trace.waiting > CAPACITY // 2:
            self._file.write()

    def end(self) -> None:
        """Tell that no more will come."""
        self.ended = True

    def events(self) -> Iterator[str]:
        """Take the spans that wait, and how many did not fit since the last time."""
        spans = self._trace.spans()
        begun, lasted = np.divmod(spans["begin_ns"], 1000), np.divmod(spans["end_ns"] - spans["begin_ns"], 1000)
        columns = (spans["work"], spans["number"], *begun, *lasted)
        for work, number, begin, begin_ns, last, last_ns in zip(*(column.tolist() for column in columns)):
            event = self._kernels[number] if work == KERNEL else self._works[work]
            facts = f',"args":{{"step":{number}}}' if work == TICK else ""
            yield f'{event}"ts":{begin}.{begin_ns:03d},"dur":{last}.{last_ns:03d}{facts}}}'
        if (lost := self._trace.lost) > self._lost:
            ts = _micro(int(spans["end_ns"][-1]) if len(spans) else time.monotonic_ns())
            yield f'{{"name":"{lost - self._lost} spans lost","ph":"i","s":"t",{self._tracks[0]},"ts":{ts}}}'
            self._lost = lost


class Spans:
    """Spans that Python leaves, from any thread."""

    def __init__(self, track: str) -> None:
        self.ended = False
        self._track, self._left = track, deque[tuple[str, int, int, Mapping[str, Any]]]()

    def leave(self, name: str, begin_ns: int, end_ns: int, facts: Mapping[str, Any] | None = None) -> None:
        """Leave a span, in CLOCK_MONOTONIC; those of one track lie one behind or inside the other."""
        if not self.ended:
            self._left.append((name, begin_ns, end_ns, facts or {}))

    def end(self) -> None:
        """Tell that no more will come."""
        self.ended = True

    def events(self) -> Iterator[str]:
        """Take the spans that wait."""
        for _ in range(len(self._left)):
            name, begin, end, facts = self._left.popleft()
            told = f',"args":{json.dumps(facts)}' if facts else ""
            yield f'{_begin(name, self._track)}"ts":{_micro(begin)},"dur":{_micro(end - begin)}{told}}}'


def trace_file() -> TraceFile | None:
    """Give the file that the environment asks for, one a process. Raises PlantError where it cannot be written."""
    path = os.environ.get(VARIABLE)
    if not path:
        return None
    key = path, os.getpid()  # a forked child opens its own, which needs ``%p`` in the name
    if key not in _opened:
        _opened[key] = TraceFile(path)
    return _opened[key]


def _alone(path: Path, text: str) -> int:
    """Open a file for this process alone, with that text in it. Raises BlockingIOError where another has it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.ftruncate(descriptor, 0)
        _append(descriptor, text)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _append(descriptor: int, text: str) -> None:
    """Append by one call, where the system takes all of it at once, so that a kill leaves whole lines."""
    left = memoryview(text.encode())
    while left:
        left = left[os.write(descriptor, left) :]


def _begin(name: str, track: str) -> str:
    """Begin the event of a span, with what is the same each time."""
    return f'{{"name":{json.dumps(name)},"ph":"X",{track},'


def _micro(ns: int) -> str:
    """Write nanoseconds as microseconds, to the last: a double would lose some where a machine runs for months."""
    return f"{ns // 1000}.{ns % 1000:03d}"


_opened: dict[tuple[str, int], TraceFile] = {}
