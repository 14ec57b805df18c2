from dataclasses import asdict

import numpy as np
import pytest

from sim_node.errors import WireError
from sim_node.wires.incoming import Incoming
from sim_node.wires.wiring import Wiring

MS = 1_000_000


@pytest.fixture
def torque(wiring, inputs):
    made = Incoming(wiring.received[0])
    made.bind(inputs)
    return made


@pytest.fixture
def commands(inputs):
    return {field.name: np.zeros(field.numpy_shape, field.element.numpy) for field in inputs}


def counted(incoming):
    return {name: value for name, value in asdict(incoming.counts).items() if value}


def test_it_sets_what_it_says(torque, commands):
    content = torque.received.coding.encode({"First": 7, "Second": -3000}, 5)
    assert torque.inputs == ("force", "lost")
    assert torque.take(content, 0.0, 0, commands)
    assert commands["force"].tolist() == [3.5, -1500.0]
    assert counted(torque) == {"received": 1}


def test_a_value_out_of_range_is_saturated(torque, commands):
    assert torque.take(torque.received.coding.encode({"First": 3000}, 0), 0.0, 0, commands)
    assert commands["force"][0] == 1000.0
    assert counted(torque) == {"received": 1, "saturated": 1}


def test_what_a_counter_and_a_checksum_tell(torque, commands):
    def take(count, first, stamp=0.0):
        return torque.take(torque.received.coding.encode({"First": first}, count), stamp, 0, commands)

    assert [take(254, 1), take(255, 2), take(255, 3), take(0, 4), take(3, 5)] == [True, True, False, True, True]
    assert not torque.take(b"\0" * 8, 0.0, 0, commands)
    assert commands["force"][0] == 2.5
    told = {"received": 4, "repeated": 1, "lost": 2, "wrong": 1}
    assert {name: value for name, value in counted(torque).items() if name in told} == told


def test_the_bus_s_stamps_tell_its_cycle(torque, commands):
    for count, stamp in enumerate((1.0, 1.010, 1.022, 1.030)):
        torque.take(torque.received.coding.encode({}, count), stamp, 0, commands)
    assert torque.counts.shortest_ms == pytest.approx(8.0)
    assert torque.counts.longest_ms == pytest.approx(12.0)


def test_one_that_is_missing_sets_zero_and_a_flag_until_it_is_back(torque, commands, inputs):
    encode = torque.received.coding.encode
    assert not torque.watch(100 * MS, commands)
    assert torque.take(encode({"First": 8}, 9), 0.0, 105 * MS, commands)
    assert not torque.watch(125 * MS, commands)
    assert torque.watch(126 * MS, commands)
    assert not torque.watch(127 * MS, commands)
    assert (commands["force"][0], commands["lost"], torque.missing) == (0.0, 1, True)
    assert torque.take(encode({"First": 8}, 9), 0.0, 130 * MS, commands)
    assert (commands["force"][0], commands["lost"], torque.missing) == (4.0, 0, False)
    assert counted(torque) == {"received": 2, "missing": 1}
    torque.bind(inputs)
    assert not torque.watch(0, commands)
    assert torque.watch(21 * MS, commands)


def test_one_that_never_came_is_missing_too(describe, commands, inputs):
    torque = Incoming(Wiring.read(describe(("missing: zero", "missing: hold"))).received[0])
    torque.bind(inputs)
    commands["force"][:] = 5.0
    assert not torque.watch(0, commands)
    assert torque.watch(21 * MS, commands)
    assert (commands["force"].tolist(), commands["lost"]) == ([5.0, 5.0], 1)


def test_only_the_branch_that_came_is_set(wiring, commands, inputs):
    mode = Incoming(wiring.received[1])
    mode.bind(inputs)
    assert mode.take(mode.received.coding.encode({"Which": 1, "Fast": 200}, 0), 0.0, 0, commands)
    assert (commands["mode"], mode.counts.saturated) == (127, 1)
    assert not mode.watch(10**15, commands)


def test_a_flag_that_is_no_input(describe, inputs):
    torque = Incoming(Wiring.read(describe(("flag: lost", "flag: lots"))).received[0])
    with pytest.raises(WireError, match=r"can\.yaml: receive\.Torque\.flag: no input 'lots'; did you mean 'lost'\?"):
        torque.bind(inputs)
