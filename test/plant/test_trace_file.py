"""The file that SIM_NODE_TRACE names: JSON that a viewer opens, with the parts of each tick inside of it."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
from devices import COMPILED
from traced import inside, named, opened, spans, tracks

from sim_node.errors import PlantError
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.plant import Stepper
from sim_node.plant import stepper as module
from sim_node.plant.trace_file import TraceFile, trace_file
from sim_node.runtime.trace import Trace

PARTS = ["inputs", "plan", "hash", "commit", "record"]
SCRIPT = """
import os
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.plant import Stepper
stepper = Stepper(QuarterCar(), dt_ns=1000000, substeps=2)
stepper.tick({ticks})
{end}
"""


def process(path: Path, ticks: int = 3, end: str = "") -> subprocess.CompletedProcess[str]:
    """Let a process tick, traced into the file."""
    command, names = [sys.executable, "-c", SCRIPT.format(ticks=ticks, end=end)], {"SIM_NODE_TRACE": str(path)}
    return subprocess.run(command, env={**os.environ, **names}, check=False, text=True, capture_output=True)


def follow(file: TraceFile, stepper: Stepper, trace: Trace, name: str = "") -> None:
    """Write what the stepper leaves in the trace to the file."""
    file.ticks(stepper, trace, name, "QuarterCar", ["step"], stepper.substeps, stepper._plan.device.is_cuda)


def test_each_tick_holds_its_parts(tmp_path):
    assert process(tmp_path / "t.json").returncode == 0
    events = opened(tmp_path / "t.json")
    assert list(tracks(events)) == ["QuarterCar"]
    ticks = named(events, "tick")
    assert [tick["args"]["step"] for tick in ticks] == [1, 2, 3]
    for tick in ticks:
        assert sorted(span["name"] for span in inside(events, tick)) == sorted([*PARTS, "step", "step"])


def test_more_ticks_than_the_trace_has_room_for_lose_nothing(tmp_path):
    assert process(tmp_path / "t.json", 33_000).returncode == 0
    events = opened(tmp_path / "t.json")
    assert [tick["args"]["step"] for tick in named(events, "tick")] == list(range(1, 33_001))
    assert len(spans(events)) == 33_000 * (len(PARTS) + 3)
    assert not [event for event in events if event["ph"] == "i"]


def test_what_a_killed_process_wrote_can_be_read(tmp_path):
    path = tmp_path / "t.json"
    wait = f"while b'tick' not in open({str(path)!r}, 'rb').read(): pass"
    assert process(path, end=f"{wait}\nos.kill(os.getpid(), 9)").returncode == -9
    assert not path.read_text().endswith("]")
    assert len(named(opened(path), "tick")) == 3


@pytest.mark.parametrize("place", ["absent/t.json", "."])
def test_a_file_that_cannot_be_written_is_refused(tmp_path, monkeypatch, place):
    monkeypatch.setenv("SIM_NODE_TRACE", str(tmp_path / place))
    with pytest.raises(PlantError, match=r"SIM_NODE_TRACE=.*(No such file|Is a directory).*name a file"):
        Stepper(QuarterCar(), dt_ns=1000)


def test_two_processes_do_not_write_one_file(tmp_path):
    path = tmp_path / "t.json"
    file = TraceFile(str(path))
    other = process(path)
    assert other.returncode == 1
    assert f"SIM_NODE_TRACE={path}: another process writes {path}; %p in the name" in other.stderr
    assert process(tmp_path / "%p.json").returncode == 0
    file.close()
    assert [event["name"] for event in opened(path)] == ["process_name"]


def test_the_name_may_hold_the_process(tmp_path):
    file = TraceFile(str(tmp_path / "%p.json"))
    file.close()
    assert opened(tmp_path / f"{os.getpid()}.json")[0]["name"] == "process_name"


def test_steppers_of_one_process_have_tracks_of_their_own(tmp_path):
    file, made = TraceFile(str(tmp_path / "t.json")), []
    for ticks in (3, 5, 7):
        made.append((trace := Trace(), Stepper(QuarterCar(), dt_ns=1000, trace=trace)))
        follow(file, made[-1][1], trace)
        made[-1][1].tick(ticks)
    follow(file, made[-1][1], made[-1][0], "/car")
    made[-1][1].tick(11)
    file.close()
    events = opened(tmp_path / "t.json")
    numbers = tracks(events)
    assert list(numbers) == ["QuarterCar", "QuarterCar 2", "QuarterCar 3", "/car"]
    ticks = [len(named(events, "tick", numbers[name])) for name in numbers]
    assert (ticks[:2], sum(ticks)) == ([3, 5], 26)


class Watched(Trace):
    """A trace that tells when it goes."""


def test_a_stepper_that_goes_leaves_its_last_spans_and_its_track_and_takes_its_trace_along(tmp_path, monkeypatch):
    monkeypatch.setenv("SIM_NODE_TRACE", str(tmp_path / "t.json"))
    monkeypatch.setattr(module, "Trace", Watched)
    for ticks in (3, 5):
        made = Stepper(QuarterCar(), dt_ns=1000)
        trace = weakref.ref(made._plan.trace)
        made.tick(ticks)
        del made
        gc.collect()
        trace_file().write()
        assert trace() is None
    trace_file().close()
    events = opened(tmp_path / "t.json")
    assert list(tracks(events)) == ["QuarterCar"]
    assert [tick["args"]["step"] for tick in named(events, "tick")] == [1, 2, 3, 1, 2, 3, 4, 5]


def test_lost_spans_are_told(tmp_path):
    file, trace = TraceFile(str(tmp_path / "t.json")), Trace(8)
    stepper = Stepper(QuarterCar(), dt_ns=1000, trace=trace)
    follow(file, stepper, trace)
    before = trace.lost  # in the probe
    stepper.tick(5)
    file.close()
    (told,) = [event["name"] for event in opened(tmp_path / "t.json") if event["ph"] == "i"]
    assert told == f"{trace.lost - before} spans lost"


def test_a_disk_that_is_full_ends_the_trace_and_no_more(tmp_path):
    path = tmp_path / "t.json"
    ended = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); stepper.tick(1000)"
    done = process(path, end=ended)
    assert done.returncode == 0
    assert f"RuntimeWarning: SIM_NODE_TRACE: {path} ends here: File too large" in done.stderr
    assert path.stat().st_size == 4096
    assert len(opened(path)) > 10


@COMPILED
def test_a_gpu_has_a_track_of_its_own(device, tmp_path):
    file, trace = TraceFile(str(tmp_path / "t.json")), Trace()
    stepper = Stepper(QuarterCar(), dt_ns=1_000_000, device=device, trace=trace)
    follow(file, stepper, trace)
    stepper.tick(2)
    file.close()
    events = opened(tmp_path / "t.json")
    assert [span["tid"] for span in named(events, "step")] == [1 + device.is_cuda] * 2
    assert [span["tid"] for span in named(events, "copy to the GPU")] == [2] * (2 * device.is_cuda)
    assert {span["tid"] for span in spans(events) if span["name"] in PARTS} == {1}
