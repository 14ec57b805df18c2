"""Faults of a running plant: scheduled by parameters, asked for by a service, told, and in the bag."""

import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from diagnostic_msgs.msg import DiagnosticArray

from sim_node.bridge import Subscriber
from sim_node.msg import Keyframe, Record
from sim_node.replay.messages import batch_of, keyframe_of
from sim_node.srv import Fault, Step


def seen(node):
    """The field ``x`` of the newest tick."""
    with Subscriber(node.get_name()) as reader, reader.latest() as tick:
        return tick["x"].copy()


@pytest.fixture
def faultable(rig, plants):
    """Make a node whose plant may have faults, paused at its start."""

    def make(**parameters):
        given = {"plant": f"{plants}:Follow?faults=x,force:5", "start_paused": True, **parameters}
        return rig(rate=100.0, **given)

    return make


def test_they_are_scheduled_by_parameters_and_begin_anew_with_a_reset(faultable):
    from std_srvs.srv import Trigger

    given = {"variable": "x", "stuck_at": 7.0, "after": 0.02, "until": 0.04}
    with faultable(**{f"faults.jam.{word}": value for word, value in given.items()}) as (node, peer):
        assert peer.change("configure"), node.fault
        assert peer.change("activate")
        for _ in range(2):
            stuck = []
            for _ in range(6):
                assert peer.call(Step, "step", ticks=1).success
                stuck.append(bool((seen(node) == 7).all()))
            assert stuck == [False, False, True, True, False, False]
            assert peer.call(Trigger, "reset").success


def test_a_service_gives_and_takes_them_and_the_bag_holds_them(faultable):
    with faultable() as (node, peer):
        peer.change("configure")
        records, keyframes = peer.listen(Record, "record"), peer.listen(Keyframe, "keyframe")
        told = peer.listen(DiagnosticArray, "/diagnostics", late=False)
        peer.change("activate")
        peer.call(Step, "step", ticks=3)
        answer = peer.call(Fault, "fault", variable="x", kind="offset", value=2.5, element=1)
        assert (answer.success, answer.faults) == (True, ["x[1] offset 2.5 from tick 4"])
        peer.call(Step, "step", ticks=1)
        assert seen(node).ravel()[:3].tolist() == [0, 2.5, 0]
        peer.until(
            lambda: any(
                pair.key == "faults" and pair.value == answer.faults[0]
                for message in told
                for status in message.status
                for pair in status.values
            ),
            "the fault on /diagnostics",
        )
        assert peer.call(Fault, "fault", variable="x").message == "1 faults taken away"
        peer.call(Step, "step", ticks=1)
        assert not seen(node).any()
        peer.change("deactivate")
        peer.until(lambda: sum(record.count for record in records) == 5, "records")
        from sim_node.plant import Stepper, reference

        first, _ = keyframe_of(keyframes[0])
        again = Stepper(reference(first.plant)(), dt_ns=first.dt_ns, substeps=first.substeps, seed=first.seed)
        again.restore(first)
        for batch in (batch_of(record).records for record in records):
            assert (again.replay(batch.inputs).hashes == batch.hashes).all()


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        ({"variable": "y", "kind": "nan"}, "fault of 'y': it may have none"),
        ({"variable": "x", "kind": "melt"}, "no 'melt'"),
        ({"variable": "force", "kind": "delay", "value": 1.0}, "is more than the 5 that it was built for"),
        ({"variable": "level"}, "no faults of 'level'"),
    ],
    ids=["unknown", "kind", "delay", "clear"],
)
def test_what_cannot_be_is_refused(faultable, request_, why):
    with faultable() as (_, peer):
        peer.change("configure")
        peer.change("activate")
        answer = peer.call(Fault, "fault", **request_)
        assert not answer.success
        assert why in answer.message


def test_a_plant_that_was_built_without_has_none(rig):
    with rig(start_paused=True) as (_, peer):
        peer.change("configure")
        peer.change("activate")
        for request_ in ({"variable": "x", "kind": "nan"}, {"variable": "x"}):
            assert "was built without faults" in peer.call(Fault, "fault", **request_).message
        assert peer.call(Fault, "fault").message == "0 faults taken away"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"faults.jam.variable": "x", "faults.jam.stick": 1.0}, "'faults.jam.stick' is no part of a fault"),
        ({"faults.jam": 1.0}, "'faults.jam' is no part of a fault; write faults.NAME.WORD"),
        ({"faults.jam.variable": "x"}, "faults.jam: fault of 'x': nothing is asked for"),
        ({"faults.jam.stuck_at": 1.0}, "faults.jam: fault of '': it may have none"),
    ],
    ids=["word", "form", "kind", "variable"],
)
def test_a_schedule_that_cannot_be_is_refused_at_configure(faultable, given, why):
    with faultable(**given) as (node, peer):
        assert not peer.change("configure")
        assert why in str(node.fault)
