"""What the node publishes, in the trace: a span a message on the node's own track, behind the ticks that it holds."""

import os
import signal
from itertools import chain

import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from std_srvs.srv import Trigger
from traced import inside, named, opened, spans, tracks

from sim_node.bridge.transports import posix_shm
from sim_node.msg import Record, Tick
from sim_node.plant.trace_file import trace_file

KINDS = ("ring", "tick", "record", "keyframe")
OTHER = f"other_{os.getpid()}"


@pytest.fixture
def path(tmp_path, monkeypatch):
    """The file that the trace of this process goes to."""
    monkeypatch.setenv("SIM_NODE_TRACE", str(tmp_path / "trace.json"))
    return tmp_path / "trace.json"


def steps(events, track):
    """The steps of the ticks on a track, in the order of time."""
    return [tick["args"]["step"] for tick in sorted(named(events, "tick", track), key=lambda tick: tick["begin"])]


def test_each_message_is_a_span_behind_what_it_tells_of(rig, path):
    with rig(rate=1000.0, keyframe_every=50, diagnostics_period=0.1) as (node, peer):
        peer.change("configure")
        heard = peer.listen(Tick, "tick", late=False)
        for _ in range(2):
            peer.change("activate")
            reached = node.assembly.stepper.step + 200
            peer.until(lambda reached=reached: heard and heard[-1].step > reached, "ticks")
            peer.change("deactivate")
        last, generation, name = node.assembly.stepper.step, node.assembly.publisher.generation, peer.target
    trace_file().close()
    events = opened(path)
    numbers = tracks(events)
    assert list(numbers) == [name, f"{name} topics"]
    ticks, topics = numbers.values()
    assert steps(events, ticks) == list(range(1, last + 1))
    assert not [event for event in events if event["ph"] == "i"]

    committed = dict(zip(steps(events, ticks), sorted(commit["end"] for commit in named(events, "commit", ticks))))
    sent = {kind: named(events, f"{name}/{kind}", topics) for kind in KINDS}
    sent["diagnostics"] = named(events, "/diagnostics", topics)
    assert all(sent.values())
    for message in chain.from_iterable(sent.values()):
        (handed,) = [part for part in inside(events, message) if part["tid"] == topics]
        assert handed["name"] == "publish"
    assert len(named(events, "publish", topics)) == sum(map(len, sent.values()))
    recorded = []
    for message in sent["record"]:
        covered = range(message["args"]["first_step"], message["args"]["first_step"] + message["args"]["count"])
        recorded += covered
        assert committed[covered[-1]] <= message["begin"]
    assert recorded == list(range(1, last + 1))
    for message in sent["keyframe"]:
        assert message["args"]["step"] == 0 or committed[message["args"]["step"]] <= message["begin"]
    visible = dict(zip(steps(events, ticks), sorted(commit["begin"] for commit in named(events, "commit", ticks))))
    for message in sent["tick"]:  # from a thread that the commit wakes
        assert message["args"]["step"] == 0 or visible[message["args"]["step"]] <= message["begin"]
    assert [message["args"]["generation"] for message in sent["ring"]] == [generation]


def test_two_nodes_of_one_process_are_not_mixed_up(rig, path):
    other = ("--ros-args", "-r", f"__node:={OTHER}")
    with rig(rate=1000.0) as (one, peer), rig(other, rate=500.0, record=False) as (two, its_peer):
        for each in (peer, its_peer):
            each.change("configure")
            each.change("activate")
        heard = [each.listen(Tick, "tick", late=False) for each in (peer, its_peer)]
        for each, ticks in zip((peer, its_peer), heard):
            each.until(lambda ticks=ticks: ticks, "message of a tick")
        peer.until(lambda: one.assembly.stepper.step > 100 and two.assembly.stepper.step > 100, "ticks")
        before = one.assembly.stepper
        assert peer.call(Trigger, "reset").success
        peer.until(lambda: one.assembly.stepper.step > 100, "ticks of the next generation")
        for each in (peer, its_peer):
            each.change("deactivate")
        lasts = [before.step, one.assembly.stepper.step, two.assembly.stepper.step]
        names = [peer.target, its_peer.target]
    trace_file().close()
    events = opened(path)
    numbers = tracks(events)
    assert set(numbers) == {*names, *(f"{name} topics" for name in names)}
    runs = [list(range(1, last + 1)) for last in lasts]
    assert steps(events, numbers[names[0]]) == runs[0] + runs[1]
    assert steps(events, numbers[names[1]]) == runs[2]
    for name in names:
        told = {span["name"] for span in spans(events) if span["tid"] == numbers[f"{name} topics"]}
        assert told - {"publish", "/diagnostics"} <= {f"{name}/{kind}" for kind in KINDS}
        assert f"{name}/tick" in told
    generations = [span["args"]["generation"] for span in named(events, f"{names[0]}/ring")]
    assert generations == sorted(set(generations))
    assert len(generations) == 2


def test_a_node_that_is_killed_leaves_what_it_published(run, peer_of, plants, tmp_path):
    path = tmp_path / "trace.json"
    options = ["-r", f"__node:={OTHER}", "-p", f"plant:={plants}:Follow", "-p", "rate:=1000"]
    process = run("--ros-args", *options, env={**os.environ, "SIM_NODE_TRACE": str(path)})
    peer = peer_of(f"/{OTHER}")
    records = peer.listen(Record, "record")
    peer.change("configure")
    peer.change("activate")
    peer.until(lambda: records, "record")
    peer.until(lambda: f'"/{OTHER}/record"' in path.read_text(), "span of a record")
    process.send_signal(signal.SIGKILL)
    process.wait()
    posix_shm.path_of(OTHER).unlink()  # which the next life of the node would do
    events = opened(path)
    assert not path.read_text().endswith("]\n")
    written = steps(events, tracks(events)[f"/{OTHER}"])
    assert written == list(range(1, len(written) + 1))
    assert named(events, f"/{OTHER}/record")[0]["args"]["first_step"] == 1
