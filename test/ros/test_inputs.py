"""Inputs by topic: a writer of the node's ring beside those that map it."""

import os

import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import QoSProfile
from std_msgs.msg import Float32MultiArray, Float64MultiArray
from std_srvs.srv import Trigger

from sim_node.bridge import Subscriber
from sim_node.bridge.inventory import inputs_of
from sim_node.errors import RingError


def test_inputs_of_the_wrong_length_are_dropped_and_told(rig, capfd):
    with rig() as (node, peer):
        peer.change("configure")
        force = peer.node.create_publisher(Float32MultiArray, f"{peer.target}/input/force", QoSProfile(depth=10))
        push = peer.node.create_publisher(Float64MultiArray, f"{peer.target}/input/push", QoSProfile(depth=10))
        peer.until(lambda: force.get_subscription_count() and push.get_subscription_count(), "subscriptions")
        peer.meet()
        force.publish(Float32MultiArray(data=[1.0, 2.0]))
        push.publish(Float64MultiArray(data=[2.5]))
        peer.until(lambda: of(node, "push").writers, "input")
        peer.change("activate")
        peer.until(lambda: of(node, "push").step, "tick")
        peer.change("deactivate")
        assert node.assembly.stepper.get("push") == 2.5
        assert not node.assembly.stepper.get("force").any()
        assert "~/input/force: a message of 2 numbers is dropped; the input takes 9" in capfd.readouterr().err


def test_a_topic_and_a_controller_share_an_input_by_priority(rig):
    with rig(rate=1000.0, input_silence=100_000, topic_priority=5, diagnostics_period=0.1) as (node, peer):
        peer.change("configure")
        told = peer.listen(DiagnosticArray, "/diagnostics", late=False)
        push = peer.node.create_publisher(Float64MultiArray, f"{peer.target}/input/push", QoSProfile(depth=10))
        peer.until(push.get_subscription_count, "subscription")
        peer.meet()
        peer.change("activate")

        def in_charge(reader=None):
            reader and reader.send("push", 2.0)
            charge = of(node, "push").charge
            return charge and charge.name

        with Subscriber(peer.target, writer="pilot") as pilot:
            pilot.claim("push", 10)
            pilot.send("push", 2.0)
            push.publish(Float64MultiArray(data=[1.0]))
            peer.until(lambda: in_charge(pilot) and len(of(node, "push").writers) == 2, "both writers")
            peer.until(lambda: in_charge(pilot) == "pilot", "the higher priority")
            shown = f"pilot (pid {os.getpid()}, priority 10)"
            peer.until(
                lambda: in_charge(pilot) and shown == values(told).get("input.push.in_charge"), "pilot in charge"
            )
            peer.until(lambda: in_charge(pilot) and values(told)["input.push.others"], "the other one")
            figures = values(told)
            assert figures["input.push.others"] == f"topic (pid {os.getpid()}, priority 5)"
            assert int(figures["input.push.applied_step"]) > 0
            peer.until(lambda: in_charge(pilot) and "input.push.command_age_p50_us" in values(told), "age of commands")
        peer.until(lambda: push.publish(Float64MultiArray(data=[1.0])) or in_charge() == "topic", "the next one")
        peer.node.destroy_publisher(push)
        peer.until(lambda: not of(node, "push").writers, "end of the topic")
        assert peer.call(Trigger, "reset").success  # another ring, whose inputs are free
        assert of(node, "push").writers == ()


def test_an_exclusive_input_is_its_first_writers(rig, capfd):
    with rig(rate=1000.0, exclusive_inputs="push, force") as (node, peer):
        peer.change("configure")
        push = peer.node.create_publisher(Float64MultiArray, f"{peer.target}/input/push", QoSProfile(depth=10))
        peer.until(push.get_subscription_count, "subscription")
        peer.meet()
        peer.change("activate")
        with Subscriber(peer.target, writer="pilot") as pilot:
            pilot.send("push", 2.0)
            push.publish(Float64MultiArray(data=[1.0]))
            said = f"input 'push' of ring '{node.get_name()}' is for one writer at a time and has one, 'pilot' (pid "
            logged = []
            peer.until(lambda: logged.append(capfd.readouterr().err) or said in "".join(logged), "refusal")
            pilot.leave("push")
            peer.until(lambda: push.publish(Float64MultiArray(data=[1.0])) or of(node, "push").charge, "the topic")
            with pytest.raises(RingError, match=rf"has one, 'topic' \(pid {os.getpid()}\)"):
                pilot.send("push", 2.0)


def of(node, name):
    """What the node's ring tells of an input."""
    publisher = node.assembly.publisher
    (found,) = [each for each in inputs_of(publisher.ring, publisher.inputs) if each.name == name]
    return found


def values(told):
    return {pair.key: pair.value for pair in told[-1].status[0].values} if told else {}
