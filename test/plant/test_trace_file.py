"""The file that SIM_NODE_TRACE names: JSON that a viewer opens, with the parts of each tick inside of it."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import weakref

import pytest
from devices import COMPILED

from sim_node.errors import PlantError
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.plant import Stepper
from sim_node.plant import stepper as module
from sim_node.plant.trace_file import TraceFile, trace_file
from sim_node.runtime.trace import Trace

PARTS = ["inputs", "plan", "hash", "publish", "record"]
SCRIPT = """
import os
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.plant import Stepper
stepper = Stepper(QuarterCar(), dt_ns=1000000, substeps=2)
stepper.tick(3)
{end}
"""


def traced(tmp_path, end: str = "") -> str:
    """What a process leaves in the file."""
    path = tmp_path / "trace.json"
    command = [sys.executable, "-c", SCRIPT.format(end=end)]
    subprocess.run(command, env={**os.environ, "SIM_NODE_TRACE": str(path)}, check=not end)
    return path.read_text()


def test_each_tick_holds_its_parts(tmp_path):
    events = json.loads(traced(tmp_path))
    assert {event["args"]["name"] for event in events if event["ph"] == "M"} == {"sim_node", "QuarterCar"}
    spans = [event for event in events if event["ph"] == "X"]
    ticks = [span for span in spans if span["name"] == "tick"]
    assert len(ticks) == 3
    for tick in ticks:
        begin, end = tick["ts"] - 1e-3, tick["ts"] + tick["dur"] + 1e-3
        inside = [span for span in spans if span is not tick and begin <= span["ts"] < end]
        assert sorted(span["name"] for span in inside) == sorted([*PARTS, "step", "step"])
        assert all(span["ts"] + span["dur"] <= end for span in inside)


def test_what_a_killed_process_wrote_can_be_read(tmp_path):
    text = traced(tmp_path, "stepper.drain(); os.kill(os.getpid(), 9)")
    assert len([e for e in json.loads(text + "]") if e.get("name") == "tick"]) == 3


def test_a_file_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("SIM_NODE_TRACE", str(tmp_path / "absent" / "trace.json"))
    with pytest.raises(PlantError, match=r"SIM_NODE_TRACE=.*absent.*No such file.*name a file"):
        Stepper(QuarterCar(), dt_ns=1000)


def test_the_name_may_hold_the_process(tmp_path):
    file = TraceFile(str(tmp_path / "%p.json"))
    file.close()
    assert json.loads((tmp_path / f"{os.getpid()}.json").read_text())[0]["name"] == "process_name"


def test_lost_spans_are_told(tmp_path):
    file = TraceFile(str(tmp_path / "t.json"))
    trace = Trace(8)
    stepper = Stepper(QuarterCar(), dt_ns=1000, trace=trace)
    tracks = file.tracks(stepper, trace, "QuarterCar", ["step"], on_gpu=False)
    stepper.tick(5)
    tracks.write()
    file.close()
    names = [event["name"] for event in json.loads((tmp_path / "t.json").read_text())]
    assert f"{trace.lost} spans lost" in names


class Watched(Trace):
    """A trace that tells when it goes."""


def test_what_a_stepper_leaves_is_written_when_it_goes_and_its_trace_goes_too(tmp_path, monkeypatch):
    path = tmp_path / "t.json"
    monkeypatch.setenv("SIM_NODE_TRACE", str(path))
    monkeypatch.setattr(module, "Trace", Watched)
    for number in range(1, 4):
        made = Stepper(QuarterCar(), dt_ns=1000)
        trace = weakref.ref(made._plan.trace)
        made.tick(2)
        del made
        gc.collect()
        assert trace() is None
        events = json.loads(path.read_text() + "]")
        assert [e["tid"] for e in events if e["name"] == "tick"] == [1, 1, 3, 3, 5, 5][: 2 * number]
    trace_file().close()


@COMPILED
def test_a_gpu_has_a_track_of_its_own(device, tmp_path):
    file, trace = TraceFile(str(tmp_path / "t.json")), Trace()
    stepper = Stepper(QuarterCar(), dt_ns=1_000_000, device=device, trace=trace)
    tracks = file.tracks(stepper, trace, "QuarterCar", ["step"], device.is_cuda)
    stepper.tick(2)
    tracks.write()
    file.close()
    spans = [event for event in json.loads((tmp_path / "t.json").read_text()) if event["ph"] == "X"]
    assert [span["tid"] for span in spans if span["name"] == "step"] == [1 + device.is_cuda] * 2
    assert [span["tid"] for span in spans if span["name"] == "copy to the GPU"] == [2] * (2 * device.is_cuda)
    assert {span["tid"] for span in spans if span["name"] in PARTS} == {1}
