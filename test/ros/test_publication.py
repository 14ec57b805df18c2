"""What goes out of a plant whose rate has no common divisor with the topic's, and of one that rests."""

import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from std_srvs.srv import Trigger

from sim_node.msg import Tick
from sim_node.node.publication import Publication
from sim_node.node.schedule import Schedule
from sim_node.srv import Step

ODD = {"rate": 1000.0, "tick_topic_rate": 300.0}


def test_of_each_interval_goes_out_one_tick_at_most(rig):
    with rig(**ODD) as (_, peer):
        peer.change("configure")
        ticks = peer.listen(Tick, "tick", late=False)
        peer.change("activate")
        peer.until(lambda: ticks and ticks[-1].step > 300, "ticks")
        peer.change("deactivate")
        schedule = Schedule(300.0, 1000.0)
        counts = [schedule.index(tick.step) for tick in ticks[1:]]  # the first is the one that the plant began on
        assert counts == sorted(set(counts))


def test_the_tick_that_a_plant_rests_on_goes_out_also_to_one_who_comes_later(rig):
    with rig(start_paused=True, rate=1000.0, tick_topic_rate=1.0) as (_, peer):
        peer.change("configure")
        ticks = peer.listen(Tick, "tick", late=False)
        peer.change("activate")
        peer.until(lambda: [tick.step for tick in ticks] == [0], "first tick")
        assert peer.call(Step, "step", ticks=7).success
        peer.until(lambda: [tick.step for tick in ticks] == [0, 7], "last tick")
        late = peer.listen(Tick, "tick", late=False)
        peer.until(lambda: [tick.step for tick in late] == [7], "the tick that it rests on")
        assert peer.call(Trigger, "reset").success
        peer.until(lambda: ticks[-1].step == 0, "the first tick of the next life")
        assert ticks[-1].generation > ticks[0].generation


def test_a_message_that_cannot_be_made_is_told_and_the_next_one_comes(rig, monkeypatch, capfd):
    from std_msgs.msg import Float64MultiArray

    from sim_node.node.standard.output import Output

    failed, fill = [], Output.fill

    def fail_once(self, *arguments):
        if not failed:
            failed.append(self)
            raise ZeroDivisionError("nothing to divide by")
        return fill(self, *arguments)

    monkeypatch.setattr(Output, "fill", fail_once)
    numbers = {"topics.x.type": "std_msgs/msg/Float64MultiArray", "topics.x.fields.data": "x"}
    with rig(rate=1000.0, **numbers) as (_, peer):
        peer.change("configure")
        heard = peer.listen(Float64MultiArray, "x", late=False)
        peer.change("activate")
        peer.until(lambda: heard, "message")
        assert f"could not publish {peer.target}/x: ZeroDivisionError: nothing to divide by" in capfd.readouterr().err


class Sink:
    """A topic that keeps the steps that it is given."""

    def __init__(self):
        self.publisher, self.steps, self.readers = self, [], 1

    def get_subscription_count(self):
        return self.readers

    def publish(self, make, step):
        make()
        self.steps.append(step)


class Now:
    """A tick of that step."""

    def __init__(self, step):
        self.step = step


@pytest.fixture
def instant(monkeypatch):
    """The time of the module under test, in ns, set by the test."""
    from types import SimpleNamespace

    from sim_node.node import publication

    now = [10**9]
    monkeypatch.setattr(publication, "time", SimpleNamespace(monotonic_ns=lambda: now[0]))
    return now


def test_ticks_in_time_go_out_all_that_are_due_and_those_in_a_hurry_at_the_rate(instant):
    sink = Sink()
    publication = Publication(sink, lambda tick: tick, 300.0, 1000.0)
    for step in range(1, 1001):
        instant[0] += 1_000_000
        publication.offer(Now(step), False)
    assert sink.steps[:5] == [1, 4, 7, 10, 14]  # the one that it begins on, then those that are due
    assert len(sink.steps) == 301
    for step in range(1001, 11_001):  # ten times as fast
        instant[0] += 100_000
        publication.offer(Now(step), False)
    assert 601 <= len(sink.steps) <= 602


def test_a_tick_that_comes_late_moves_none_that_follows(instant):
    sink = Sink()
    publication = Publication(sink, lambda tick: tick, 100.0, 1000.0)
    for step in (10, 27, 30, 40):
        instant[0] += 1_000_000
        publication.offer(Now(step), False)
        instant[0] += 9_000_000
    assert sink.steps == [10, 27, 30, 40]
    assert publication.due == 50
    assert publication.wait_s(45, 0.001) == pytest.approx(0.004)


def test_who_begins_to_listen_is_sent_what_others_have_had(instant):
    sink = Sink()
    publication = Publication(sink, lambda tick: tick, 100.0, 1000.0)
    for _ in range(2):
        assert publication.wanted()
        publication.offer(Now(3), True)
    sink.readers = 2
    assert publication.wanted()
    publication.offer(Now(3), True)
    sink.readers = 0
    assert not publication.wanted()
    assert sink.steps == [3, 3]
