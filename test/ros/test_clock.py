"""The clocks of a node: lockstep with controllers on topics."""

from functools import partial

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from diagnostic_msgs.msg import DiagnosticArray
from std_msgs.msg import Float64MultiArray

from sim_node.msg import Command, Keyframe, Record, Tick, Unanswered
from sim_node.node.settings import NS
from sim_node.plant import Stepper, reference
from sim_node.replay import messages


def pushes(records, layout):
    """What was applied at each step."""
    applied = {}
    for message in records:
        batch = messages.batch_of(message).records
        for i, row in enumerate(batch.inputs):
            applied[batch.first_step + i] = layout["push"].view(row.copy()).item()
    return applied


def test_lockstep_waits_for_commands_by_topic_and_tells_what_it_misses(rig, capfd):
    lockstep = {"clock": "lockstep", "lockstep_inputs": "push", "lockstep_limit_ms": 30_000.0, "lockstep_miss": "zero"}
    with rig(tick_topic_rate=1000.0, diagnostics_period=0.1, keyframe_every=0, **lockstep) as (node, peer):
        peer.change("configure")
        told = peer.listen(DiagnosticArray, "/diagnostics", late=False)
        ticks, records = peer.listen(Tick, "tick", late=False), peer.listen(Record, "record")
        keyframes, misses = peer.listen(Keyframe, "keyframe"), peer.listen(Unanswered, "unanswered")
        plain = peer.node.create_publisher(Float64MultiArray, f"{peer.target}/input/push", 10)
        stamped = peer.node.create_publisher(Command, f"{peer.target}/command/push", 10)
        peer.until(lambda: plain.get_subscription_count() and stamped.get_subscription_count(), "subscriptions")
        peer.meet()
        peer.change("activate")
        stepper = node.assembly.stepper
        for step in range(20):
            peer.until(lambda: ticks and ticks[-1].step == step, "tick")  # noqa: B023
            if step % 2:
                plain.publish(Float64MultiArray(data=[step + 0.5]))
                continue
            answer = Command(data=[step + 0.5])
            answer.header.stamp = ticks[-1].stamp
            wrong = Command(data=[-1.0])
            wrong.header.stamp.sec = 3600
            stamped.publish(wrong)
            stamped.publish(answer)
        peer.until(lambda: stepper.step == 20, "the last of them")
        peer.change("deactivate")
        assert pushes(records, stepper.input_layout) == {step + 1: step + 0.5 for step in range(20)}
        assert misses == []
        assert (
            "~/command/push: a message is dropped: 3600.000000000 s is the stamp of no tick" in capfd.readouterr().err
        )
        peer.change("cleanup")
        peer.change("configure")
        assert peer.set("lockstep_limit_ms", 1.0) == ""
        peer.change("activate")

        def missed():
            return told[-1].status[0] if "ticks had no answer in time" in told[-1].status[0].message else None

        status = peer.until(missed, "misses")
        figures = {pair.key: pair.value for pair in status.values}
        assert status.level == status.WARN or status.level == bytes([1])
        assert int(figures["input.push.unanswered"]) > 0
        assert int(figures["input.push.unanswered_step"]) >= int(figures["input.push.unanswered"])
        assert figures["input.force.unanswered"] == "0"
        peer.change("deactivate")
        peer.until(lambda: len(keyframes) > 1, "keyframe of the second run")
        keyframe, _ = messages.keyframe_of(keyframes[-1])
        later = [record for record in records if record.generation == keyframes[-1].generation]
        applied = pushes(later, node.assembly.stepper.input_layout)
        assert set(applied.values()) == {0.0}
        peer.until(lambda: misses and misses[-1].steps[-1] == max(applied), "the last miss")
        assert [step for message in misses for step in message.steps] == sorted(applied)
        stamps = [stamp.sec * NS + stamp.nanosec for message in misses for stamp in message.stamps]
        assert stamps == [step * keyframe.dt_ns for step in sorted(applied)]
        assert {bits for message in misses for bits in message.inputs} == {2}  # push is the second input
        again = Stepper(reference(keyframe.plant)(), dt_ns=keyframe.dt_ns)
        again.restore(keyframe)
        for message in later:
            batch = messages.batch_of(message).records
            assert np.array_equal(again.replay(batch.inputs).hashes, batch.hashes)


def test_lockstep_can_stop_and_says_why(rig, capfd):
    with rig(clock="lockstep", lockstep_limit_ms=1.0, lockstep_miss="stop") as (_, peer):
        peer.change("configure")
        peer.change("activate")
        peer.until(lambda: peer.state() == "inactive", "the end of its clock")
        said = capfd.readouterr().err
        assert "the clock stopped after step 0: Follow: no answer to tick 0 on 'force', 'push' within 1 ms" in said


def test_the_clock_is_another_after_each_activation(rig, capfd):
    with rig(clock="free", priority=0) as (node, peer):
        peer.change("configure")
        told = peer.listen(DiagnosticArray, "/diagnostics", late=False)
        stepper, seen = node.assembly.stepper, 0
        for clock, affinity in (("native", 1023), ("timer", -1), ("free", -1), ("native", -1)):
            assert peer.set("clock", clock) == ""
            assert peer.set("affinity", affinity) == ""
            assert "read by configure: deactivate and clean up the node first" in peer.set("rate", 7.0)
            assert peer.change("activate")
            peer.until(lambda: stepper.step > seen + 3, "ticks")  # noqa: B023
            assert "'clock' is read by activate: deactivate the node first" in peer.set("clock", "lockstep")
            assert peer.change("deactivate")
            assert node.assembly.stepper is stepper
            seen = stepper.step
        peer.until(lambda: told, "diagnostics")
        said = capfd.readouterr().err
        assert said.count("the clock goes on without what the operating system refused: affinity (Invalid") == 1
        assert "name a processor that the process may run on" in said


def test_a_fast_timer_under_an_executor_of_many_threads_does_not_hang(rig, monkeypatch):
    from rclpy.executors import MultiThreadedExecutor

    from sim_node.node import process

    monkeypatch.setattr(process, "SingleThreadedExecutor", partial(MultiThreadedExecutor, num_threads=4))
    with rig(clock="timer", rate=500.0, tick_topic_rate=500.0) as (node, peer):
        assert peer.change("configure")
        ticks = peer.listen(Tick, "tick", late=False)
        for _ in range(3):
            assert peer.change("activate")
            until = node.assembly.stepper.step + 100
            peer.until(lambda until=until: ticks and ticks[-1].step > until, "ticks")
            assert peer.state() == "active"
            assert peer.change("deactivate")
        assert node.fault is None


def test_questions_to_the_node_cost_no_tick(rig):
    """Of ticks in real time none is left out, and none is lost on the way to the bag, while the node answers."""
    from lifecycle_msgs.srv import GetState
    from rcl_interfaces.srv import ListParameters

    with rig(rate=1000.0, overrun="catch_up", catch_up=100_000) as (node, peer):
        peer.change("configure")
        records = peer.listen(Record, "record")
        peer.change("activate")
        stepper = node.assembly.stepper
        for _ in range(50):
            assert peer.call(GetState, "get_state").current_state.label == "active"
            assert len(peer.call(ListParameters, "list_parameters").result.names) > 20
        peer.change("deactivate")
        counters, last = stepper.counters(), stepper.step
        assert [counters[name] for name in ("skipped", "dropped", "lost", "copies")] == [0, 0, 0, 0]
        assert counters["ticks"] == last > 50
        peer.until(lambda: records and records[-1].first_step + records[-1].count - 1 == last, "last record")
        assert sum(record.count for record in records) == last
