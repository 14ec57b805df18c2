"""Messages as bytes: cantools reads what is written, and what was changed on the way is not taken."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_initial_values_stand_for_what_is_not_given(message):
    coding = message("Wheels")
    read = coding.message.decode(coding.encode({"Left": 1234}, 16), decode_choices=False)
    assert (read["Left"], read["Right"], read["Gear"], read["Alive"]) == (12.34, -50.0, 0, 1)


@SHARED
@given(st.integers(-10000, 10000), st.integers(0, 5), st.integers(0, 100), st.integers(0, 63))
def test_a_checksum_of_its_own_finds_any_flipped_bit(message, left, gear, count, bit):
    coding = message("Wheels")
    content = coding.encode({"Left": left, "Gear": gear}, count)
    values, counted = coding.decode(content)
    assert (values["Left"], values["Gear"], counted) == (left, gear, count % 15)
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    assert coding.decode(bytes(changed)) is None


@SHARED
@given(st.integers(-2000, 2000), st.integers(0, 1000))
def test_a_profile_protects_the_signals_beside_its_header(message, first, count):
    coding = message("Torque")
    values, counted = coding.decode(coding.encode({"First": first}, count))
    assert (values["First"], counted, coding.counts) == (first, count % 256, 256)


def test_a_floating_point_number_and_motorola_bytes(message, describe):
    from sim_node.wires.wiring import Wiring

    coding = Wiring.read(
        describe(("  Mode:\n    signals: {Slow: mode, Fast: mode}", "  Real: {signals: {Value: lost}}"))
    )
    (real,) = [each.coding for each in coding.received if each.name == "Real"]
    assert real.encode({"Value": 1.5, "Motorola": -2}, 0).hex() == "0000c03ffffe0000"
    assert real.decode(bytes.fromhex("0000c03ffffe0000")) == ({"Value": 1.5, "Motorola": -2}, 0)


def test_a_multiplexed_message_has_the_signals_of_its_branch(message):
    coding = message("Mode")
    assert coding.decode(coding.encode({"Which": 1, "Fast": 3, "Slow": 9}, 0))[0] == {"Which": 1, "Fast": 3}
    assert coding.counts == 0


@pytest.mark.parametrize("name", ["Wheels", "Torque", "Mode"])
def test_one_cut_short_is_none(message, name):
    coding = message(name)
    assert coding.decode(coding.encode({}, 0)[:-1]) is None
    assert coding.decode(coding.encode({}, 0) + b"padding") is not None
