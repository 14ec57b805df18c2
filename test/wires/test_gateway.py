"""The gateway at work, on python-can's virtual bus in this process, with a ring whose ticks the test commits."""

import threading
import time
from contextlib import contextmanager

import can
import pytest

from sim_node import dtypes
from sim_node.errors import RingError, WireError
from sim_node.layout import Layout
from sim_node.wires.gateway import Gateway, opened
from sim_node.wires.wiring import Wiring

LIMIT_S = 60.0


class Running:
    """A gateway in a thread"""

    def __init__(self, wiring, bus):
        self.said, self.logged, self.stop, self.fault = [], [], threading.Event(), None
        self.gateway = Gateway(wiring, bus, self.said.append, self.logged.append)
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        try:
            self.gateway.run(self.stop)
        except Exception as fault:
            self.fault = fault

    def end(self):
        self.stop.set()
        self.thread.join(LIMIT_S)
        assert not self.thread.is_alive()


@pytest.fixture
def running(describe):
    """Run gateways of a wiring that outlive no test."""

    @contextmanager
    def make(*changes):
        wiring = Wiring.read(describe(*changes))
        with opened(wiring) as bus:
            made = Running(wiring, bus)
            try:
                yield made
            finally:
                made.end()

    return make


def until(condition, what):
    end = time.monotonic() + LIMIT_S
    while (value := condition()) is None or value is False:
        assert time.monotonic() < end, what
        time.sleep(0.001)
    return value


def heard(rig, wiring, count):
    """Receive messages and read them, by name."""
    known = {each.coding.message.frame_id: each for each in wiring.sent}
    found = []
    while len(found) < count:
        message = rig.bus.recv(LIMIT_S)
        assert message is not None
        each = known[message.arbitration_id]
        found.append((each.name, each.coding.decode(bytes(message.data))))
    return found


def connected(rig, wiring, stamp_ms=1.0):
    """Commit a tick and wait until it came through."""
    rig.tick(stamp_ms)
    assert heard(rig, wiring, 1)[0][0] == "Safe"


def test_ticks_become_messages(rig, running, wiring):
    with rig() as rig, running() as it:
        connected(rig, wiring)
        for ms in range(8, 13):
            rig.tick(ms, left=ms, level=ms)
            names = [name for name, _ in heard(rig, wiring, 2 if ms == 10 else 1)]
            assert names == (["Wheels", "Safe"] if ms == 10 else ["Safe"])
        rig.tick(20, left=1.5, right=300.0, level=70000)
        (_, (wheels, alive)), (_, (safe, count)) = heard(rig, wiring, 2)
        assert (wheels["Left"], wheels["Right"], wheels["Gear"], alive) == (150, 6510, 1, 1)
        assert (safe["Level"], count) == (65535, 6)
        it.end()
        assert it.gateway.counts["sent"] == {
            "Wheels": {"sent": 2, "saturated": 0, "late": 0, "failed": 0},
            "Safe": {"sent": 7, "saturated": 1, "late": 0, "failed": 0},
        }
        assert len(it.logged) == 9


def test_messages_become_commands_that_answer_the_newest_tick(rig, running, wiring):
    coding = wiring.received[0].coding
    with rig() as rig, running() as it:
        connected(rig, wiring)
        rig.bus.send(can.Message(arbitration_id=99, is_extended_id=False, data=b"other"))
        for count in range(3):
            content = coding.encode({"First": count + 1}, count)
            rig.bus.send(can.Message(arbitration_id=512, is_extended_id=False, data=content))
            taken = until(lambda: rig.publisher.take("force"), "a command")
            assert taken.tolist() == [(count + 1) / 2, 0.0]
        it.end()
    counts = it.gateway.counts["received"]["Torque"]
    assert (counts["received"], counts["lost"], counts["missing"]) == (3, 0, 0)


def test_what_is_missing_is_zeroed_flagged_and_told(rig, running, wiring):
    coding = wiring.received[0].coding
    with rig() as rig, running() as it:
        connected(rig, wiring)
        rig.bus.send(can.Message(arbitration_id=512, is_extended_id=False, data=coding.encode({"First": 9}, 0)))
        assert until(lambda: rig.publisher.take("force"), "a command")[0] == 4.5
        rig.publisher.take("lost")
        rig.tick(50.0)
        assert until(lambda: rig.publisher.take("lost"), "the flag") == 1
        assert rig.publisher.take("force")[0] == 0.0
        rig.bus.send(can.Message(arbitration_id=512, is_extended_id=False, data=coding.encode({"First": 9}, 0)))
        assert until(lambda: rig.publisher.take("lost"), "the flag again") == 0
        assert rig.publisher.take("force")[0] == 4.5
        it.end()
    assert it.said == ["Torque is missing since 0.050 s", "Torque is back at 0.050 s"]


def test_it_follows_a_plant_that_is_started_again(rig, running, wiring):
    coding = wiring.received[0].coding
    with running() as it:
        with rig() as first:
            connected(first, wiring, 501.0)
        with rig() as second:
            second.tick(0.0)
            assert [name for name, _ in heard(second, wiring, 2)] == ["Wheels", "Safe"]
            second.bus.send(can.Message(arbitration_id=512, is_extended_id=False, data=coding.encode({"First": 2}, 0)))
            assert until(lambda: second.publisher.take("force"), "a command")[0] == 1.0
        it.end()
    assert it.fault is None


def test_a_wire_that_names_nothing_ends_it(rig, running):
    with rig(), running(('Left: "speed[0]"', 'Left: "sped[0]"')) as it:
        it.thread.join(LIMIT_S)
    assert isinstance(it.fault, WireError)
    assert "signals.Left: no published field 'sped'; did you mean 'speed'?" in str(it.fault)


def test_a_plant_that_comes_back_as_another_ends_it(rig, running, wiring):
    with running() as it:
        with rig() as first:
            connected(first, wiring)
        with rig(outputs=Layout.of([("level", dtypes.int32, (), "")])) as second:
            slot = second.publisher.next()
            slot.commit(0, 0)
            it.thread.join(LIMIT_S)
    assert "no published field 'speed'" in str(it.fault)


def test_told_to_stop_before_there_is_a_plant(running):
    with running() as it:
        it.end()
    assert isinstance(it.fault, RingError)
    assert "told to stop before the plant was there: there is no ring" in str(it.fault)


class Failing:
    """A bus that can be made to fail"""

    def __init__(self, bus):
        self.bus, self.fault = bus, None

    def send(self, message):
        if self.fault:
            raise self.fault
        self.bus.send(message)

    def __getattr__(self, name):
        return getattr(self.bus, name)


def test_a_bus_that_fails_is_told_once_and_gone_on_with(rig, wiring):
    with rig() as rig, opened(wiring) as bus:
        it = Running(wiring, failing := Failing(bus))
        connected(rig, wiring)
        failing.fault = can.CanOperationError("bus-off")
        for failed in (1, 2):
            rig.tick(1.0 + failed)
            until(lambda failed=failed: it.gateway.counts["sent"]["Safe"]["failed"] == failed, "a failure")
        failing.fault = None
        rig.tick(4.0)
        ((_, (_, count)),) = heard(rig, wiring, 1)
        it.end()
    assert it.said == ["the bus takes no messages: bus-off", "the bus takes messages again"]
    assert count == 3  # who listens sees by the counter how many it lacks


def test_bus_off_on_purpose(rig, running, wiring):
    """What is due is not sent and what comes is not heard, between two instants; then all goes on."""
    coding = wiring.received[0].coding

    def say(first, count):
        rig.bus.send(can.Message(arbitration_id=512, is_extended_id=False, data=coding.encode({"First": first}, count)))

    with rig() as rig, running(("send:", "bus_off: [{after: 0.002, until: 0.004}]\nsend:")) as it:
        connected(rig, wiring)
        rig.tick(2.0)
        heard(rig, wiring, 1)
        for failed, ms in enumerate((3.0, 4.0), 1):
            rig.tick(ms)
            until(lambda failed=failed: it.gateway.counts["sent"]["Safe"]["failed"] == failed, "a failure")
        say(2, 0)
        until(lambda: it.gateway.counts["received"]["Torque"]["unheard"] == 1, "an unheard message")
        assert rig.publisher.take("force") is None
        rig.tick(5.0)
        ((_, (_, count)),) = heard(rig, wiring, 1)
        say(4, 1)
        assert until(lambda: rig.publisher.take("force"), "a command")[0] == 2.0
        it.end()
        counts = it.gateway.counts
    assert count == 4
    assert counts["sent"]["Safe"] == {"sent": 3, "saturated": 0, "late": 0, "failed": 2}
    assert (counts["received"]["Torque"]["received"], counts["received"]["Torque"]["unheard"]) == (1, 1)
    assert it.said == ["the bus takes no messages: bus-off, as is asked for", "the bus takes messages again"]
    assert [message.arbitration_id for message in it.logged if message.is_rx] == [512]


def test_an_input_that_another_has_alone_ends_it(rig, running):
    from sim_node.bridge import Subscriber

    with rig() as rig, Subscriber(rig.publisher) as other:
        other.claim("force", exclusive=True)
        with running() as it:
            it.thread.join(LIMIT_S)
    assert "input 'force'" in str(it.fault)


@pytest.mark.parametrize("bus", ["{interface: none_such}", "{interface: udp_multicast, channel: 1.2.3.4}"])
def test_a_bus_that_is_not_there(describe, name, bus):
    with (
        pytest.raises(WireError, match=r"can\.yaml: bus: cannot be opened: "),
        opened(Wiring.read(describe((f"bus: {{interface: virtual, channel: {name}}}", f"bus: {bus}")))),
    ):
        pass
