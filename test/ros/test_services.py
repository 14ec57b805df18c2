import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from std_srvs.srv import Trigger

from sim_node.bridge import Subscriber
from sim_node.msg import Keyframe, Record, Ring
from sim_node.srv import Step


@pytest.mark.parametrize("clock", ["native", "timer", "free"])
def test_pause_step_resume(rig, clock):
    with rig(clock=clock) as (node, peer):
        peer.change("configure")
        peer.change("activate")
        peer.until(lambda: node.assembly.stepper.step > 0, "tick")
        assert peer.call(Trigger, "pause").success
        held = node.assembly.stepper.step
        done = peer.call(Step, "step", ticks=7)
        assert (done.success, done.step) == (True, held + 7)
        assert node.assembly.stepper.step == held + 7
        assert peer.call(Trigger, "resume").success
        peer.until(lambda: node.assembly.stepper.step > held + 8, "tick")
        assert peer.call(Trigger, "pause").success
        peer.change("deactivate")
        held = node.assembly.stepper.step
        peer.change("activate")
        peer.until(lambda: node.assembly.stepper.step > held, "tick: activate resumes")


def test_services_say_why_they_refuse(rig):
    with rig() as (_, peer):
        peer.change("configure")
        for name in ("pause", "resume", "reset"):
            answer = peer.call(Trigger, name)
            assert not answer.success
            assert answer.message == f"the node is not active: there is nothing to {name}; activate it first"
        peer.change("activate")
        assert "pause it first" in peer.call(Step, "step", ticks=1).message
        peer.call(Trigger, "pause")
        assert "at least one" in peer.call(Step, "step", ticks=0).message


@pytest.mark.parametrize("clock", ["native", "timer"])
def test_reset_begins_anew_with_a_generation_of_its_own(rig, clock):
    with rig(clock=clock) as (node, peer):
        peer.change("configure")
        rings, records = peer.listen(Ring, "ring"), peer.listen(Record, "record")
        keyframes = peer.listen(Keyframe, "keyframe")
        peer.change("activate")
        with Subscriber(peer.target) as reader:
            peer.until(lambda: reader.latest().step > 3, "tick")
            reader.send("push", 1.0)
            peer.call(Trigger, "pause")
            before = node.assembly.publisher.generation
            assert peer.call(Trigger, "reset").success
            assert node.assembly.publisher.generation > before
            assert node.assembly.stepper.step == 0
            assert node.assembly.clock.paused
            assert peer.call(Step, "step", ticks=2).step == 2
            tick = peer.until(reader.latest, "tick")
            assert (reader.generation, tick.step) == (node.assembly.publisher.generation, 2)
            tick.release()
            assert not node.assembly.stepper.get("push")
            peer.call(Trigger, "resume")
            peer.until(lambda: reader.latest().step > 5, "tick")
        peer.until(lambda: records[-1].generation > before, "record of the new generation")
        assert [ring.generation for ring in rings] == [before, records[-1].generation]
        assert [(k.generation, k.step) for k in keyframes] == [(before, 0), (records[-1].generation, 0)]
        ours = [record for record in records if record.generation > before]
        assert ours[0].first_step == 1


def test_a_reset_that_fails_leaves_the_node_unconfigured(rig, monkeypatch):
    from sim_node.node import assembly

    def fail(*_, **__):
        raise MemoryError("no memory for another ring")

    with rig() as (node, peer):
        peer.change("configure")
        peer.change("activate")
        monkeypatch.setattr(assembly, "Publisher", fail)
        answer = peer.call(Trigger, "reset")
        assert not answer.success
        assert "no memory for another ring" in answer.message
        peer.until(lambda: node.state == "unconfigured", "descent")
        monkeypatch.undo()
        assert peer.change("configure")
