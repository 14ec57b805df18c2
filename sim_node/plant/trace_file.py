"""``SIM_NODE_TRACE=file``: what ticks did and when, as a file that Perfetto and Chrome's viewer open."""

from __future__ import annotations

import atexit
import json
import os
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from sim_node.errors import PlantError
from sim_node.runtime.trace import KERNEL, WORKS, Trace

VARIABLE = "SIM_NODE_TRACE"


class TraceFile:
    """A trace of this process, in the array form of the "Trace Event Format" (Chromium), times in µs.

    ``%p`` in the name is the number of the process. Each event is written as a line, so that what a killed process
    leaves can be opened, too. Raises PlantError where the file cannot be written.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path.replace("%p", str(os.getpid())))
        try:
            self._file: TextIO = self._path.open("w", encoding="utf-8")
        except OSError as fault:
            raise PlantError(f"{VARIABLE}={path}: {fault.strerror}; name a file in a folder that is there") from fault
        self._tracks: list[Tracks] = []
        self._begun = 0
        self._owner = os.getpid()
        self._event({"name": "process_name", "ph": "M", "args": {"name": "sim_node"}}, before="[")
        atexit.register(self.close)

    def tracks(self, owner: object, trace: Trace, plant: str, kernels: Sequence[str], on_gpu: bool) -> Tracks:
        """Begin the tracks of a stepper that leaves its spans in the trace: ticks, and what a GPU does in them.

        They end with the owner, and what waits then is written.
        """
        ticks, self._begun = 2 * self._begun + 1, self._begun + 1
        for track, name in ((ticks, plant), (ticks + 1, f"{plant} on the GPU"))[: 1 + on_gpu]:
            self._event({"name": "thread_name", "ph": "M", "tid": track, "args": {"name": name}})
        made = Tracks(self, trace, kernels, (ticks, ticks + on_gpu))
        self._tracks.append(made)
        weakref.finalize(owner, self._end, made).atexit = False  # there ``close`` does it
        return made

    def write(self, events: Sequence[dict[str, Any]]) -> None:
        """Append events, and hand them to the system."""
        if os.getpid() != self._owner:  # a forked child's events would stand among its parent's
            return
        for event in events:
            self._event(event)
        self._file.flush()

    def close(self) -> None:
        """Write what waits, and end the file."""
        if os.getpid() == self._owner and not self._file.closed:
            for tracks in self._tracks:
                tracks.write()
            self._file.write("\n]\n")
            self._file.close()

    def _end(self, tracks: Tracks) -> None:
        if not self._file.closed:
            tracks.write()
            self._tracks.remove(tracks)

    def _event(self, event: dict[str, Any], before: str = ",") -> None:
        self._file.write(f"{before}\n{json.dumps({'pid': self._owner, **event})}")


class Tracks:
    """The tracks of one stepper, in a file."""

    def __init__(self, file: TraceFile, trace: Trace, kernels: Sequence[str], at: tuple[int, int]) -> None:
        self._file, self._trace, self._kernels, self._at, self._lost = file, trace, kernels, at, 0

    def write(self, least: int = 1) -> None:
        """Write the spans that wait, if they are as many, and how many did not fit since the last time."""
        if self._trace.waiting < least:
            return
        events = []
        for begin, end, work, number in self._trace.spans().tolist():
            name = self._kernels[number] if work == KERNEL else WORKS[work]
            times = {"ts": begin / 1e3, "dur": (end - begin) / 1e3}
            events.append({"name": name, "ph": "X", "tid": self._at[work >= KERNEL], **times})
        if (lost := self._trace.lost) > self._lost:
            event = {"name": f"{lost - self._lost} spans lost", "ph": "i", "tid": self._at[0], "ts": events[-1]["ts"]}
            events.append(event)
            self._lost = lost
        self._file.write(events)


def trace_file() -> TraceFile | None:
    """Give the file that the environment asks for, one a process. Raises PlantError where it cannot be written."""
    path = os.environ.get(VARIABLE)
    if not path:
        return None
    key = path, os.getpid()  # a forked child opens its own, which needs ``%p`` in the name
    if key not in _opened:
        _opened[key] = TraceFile(path)
    return _opened[key]


_opened: dict[tuple[str, int], TraceFile] = {}
