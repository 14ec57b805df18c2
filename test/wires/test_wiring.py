"""What a wiring file says, and that each mistake in one is told with its place."""

import pytest

from sim_node.errors import WireError
from sim_node.wires.wiring import Wire, Wiring


def test_what_it_says(wiring, name):
    wheels, safe = wiring.sent
    torque, mode = wiring.received
    assert (wiring.plant, dict(wiring.bus)) == (name, {"interface": "virtual", "channel": name})
    assert (wheels.cycle_ns, safe.cycle_ns, wheels.constants) == (10_000_000, 0, {"Gear": 1})
    assert [(wire.signal, wire.text, wire.factor, wire.offset) for wire in wheels.wires] == [
        ("Left", "speed[0]", 1.0, 0.0),
        ("Right", "speed[1]", 2.0, 1.0),
    ]
    assert (torque.timeout_ns, torque.missing, torque.flag) == (20_000_000, "zero", "lost")
    assert (mode.timeout_ns, mode.missing, mode.flag) == (0, "hold", "")
    assert isinstance(mode.wires[0], Wire)


def test_spans_in_which_it_is_off_the_bus(describe):
    spans = "bus_off: [{after: 1, until: 2.5}, {until: 0.5}, {after: 1e-3}]\nsend:"
    assert Wiring.read(describe(("send:", spans))).off == ((1e9, 2.5e9), (0.0, 5e8), (1e6, float("inf")))
    assert Wiring.read(describe()).off == ()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("send:", "bus_off: 5\nsend:", "can.yaml: bus_off: a list stands here, not 5"),
        ("send:", "bus_off: [5]\nsend:", "can.yaml: bus_off[0]: here stands 5, not a mapping"),
        ("send:", "bus_off: [{}, {til: 1}]\nsend:", "bus_off[1]: there is no 'til' here; did you mean 'until'?"),
        ("send:", "bus_off: [{after: 2, until: 2}]\nsend:", "bus_off[0]: it would end at 2 s, and begins at 2 s"),
        ("receive:", "recieve:", "there is no 'recieve' here; did you mean 'receive'?"),
        ("interface: virtual, ", "", "bus: 'interface' is missing"),
        ("dbc: car.dbc", "dbc: no.dbc", "dbc: no.dbc cannot be read: [Errno 2]"),
        ("dbc: car.dbc", "dbc: can.yaml", "dbc: can.yaml cannot be read: "),
        ("dbc: car.dbc", "dbc: 5", "dbc: the path of a DBC file stands here, or a list of them, not 5"),
        ("dbc: car.dbc", "dbc: [car.dbc, car.dbc]", "dbc: message Wheels is in more than one file"),
        ("  Wheels:", "  Weels:", "send.Weels: the DBC has no message 'Weels'; did you mean 'Wheels'?"),
        ("{Level: level}", "{Leve: level}", "signals.Leve: message Safe has no signal 'Leve'; did you mean 'Level'?"),
        (
            "{Level: level}",
            "{Level: [1]}",
            "signals.Level: one number of the plant stands here, as force[0] or {part: ",
        ),
        ("{Level: level}", "{Level: 70000}", "signals.Level: 70000 is outside the signal's range 0 … 65535"),
        ("{Level: level}", "{Level: {part: level, factor: 0}}", "Level.factor: a factor of 0 says nothing"),
        ("    cycle_ms: 0\n", "", "send.Safe: the DBC has no cycle time of this message (GenMsgCycleTime): give"),
        ("cycle_ms: 0", "cycle_ms: -1", "send.Safe.cycle_ms: a number of at least 0 stands here, not -1"),
        ("Gear: Drive", "Alive: 3", "signals.Alive: the message's counter, checksum or e2e writes this signal"),
        ("Gear: Drive", "Check: 3", "signals.Check: the message's counter, checksum or e2e writes this signal"),
        ("counter: Alive", "counter: Alife", "counter: message Wheels has no signal 'Alife'; did you mean 'Alive'?"),
        ("signal: Check", "signal: Left", "checksum.signal: signal Left is not 1 whole bytes, as this checksum is"),
        ("crc: CRC8", "crc: CRC9", "checksum.crc: one of CRC8, CRC8H2F, CRC16, CRC16ARC, CRC32, CRC32P4, CRC64 stands"),
        ("profile: 5, data_id: 0x1234", "profile: 3, data_id: 1", "send.Safe.e2e: there is no E2E profile 3"),
        ("profile: 5, data_id: 0x1234", "profile: 5", "e2e: the data_id of E2E profile 5 is one number in 0 … 0xffff"),
        ("data_id: 0x1234}", "data_id: 1, offset: 1}", "Level: the message's counter, checksum or e2e writes this"),
        (
            "    e2e: {profile: 5, data_id: 0x1234}",
            "    e2e: {profile: 5, data_id: 1}\n    counter: Level",
            "own; leave",
        ),
        ("missing: zero", "missing: nothing", "receive.Torque.missing: one of hold, zero stands here, not 'nothing'"),
        ("    timeout_ms: 20\n", "", "receive.Torque: 'missing' and 'flag' are for a message with 'timeout_ms'"),
        ("{Slow: mode, Fast: mode}", "{}", "receive.Mode: no signal of it is taken; name some below 'signals'"),
        (
            "  Mode:",
            "  Real: {signals: {Value: lost}, counter: Value}\n  Mode:",
            "Value is a floating-point number, and",
        ),
    ],
)
def test_each_mistake_is_told(describe, old, new, said):
    with pytest.raises(WireError) as told:
        Wiring.read(describe((old, new)))
    assert f"{told.value}".count("can.yaml: ") == 1
    assert said in str(told.value)


def test_nothing_to_do_is_a_mistake(describe):
    with pytest.raises(WireError, match="no message is sent or received; name some below 'send' or 'receive'"):
        Wiring.read(describe(text="bus: {{interface: virtual}}\ndbc: car.dbc\n"))
