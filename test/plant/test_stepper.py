import os
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_node.bridge import Publisher, Subscriber
from sim_node.errors import KernelError, PlantError
from sim_node.plant import Stepper

DT_NS = 1_000_000


def hash_of(values, field):
    """The field hash of ARCHITECTURE.md, in numpy."""
    raw = np.ascontiguousarray(values).tobytes()
    words = np.frombuffer(raw + bytes(-len(raw) % 8), "<u8")
    phi, u = np.uint64(0x9E3779B97F4A7C15), np.uint64
    z = words + (u(field << 40) + np.arange(1, len(words) + 1, dtype=u)) * phi
    z = (z ^ (z >> u(30))) * u(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> u(27))) * u(0x94D049BB133111EB)
    return (z ^ (z >> u(31))).sum(dtype=u)


def assert_same(stepper, model):
    for number, (name, wanted) in enumerate(model.fields().items()):
        found = stepper.get(name)
        assert found.dtype == wanted.dtype
        assert found.tobytes() == wanted.tobytes(), name
        assert stepper.hashes()[number] == hash_of(wanted, number)


@pytest.mark.parametrize("substeps", [1, 2, 3, 4])
@pytest.mark.parametrize("slots", [2, 4])
def test_ticks_are_those_of_a_plain_loop(oscillators, twin, substeps, slots):
    """For hundreds of ticks, with readers that hold slots, up to all of them."""
    plant = oscillators()
    publisher = Publisher(plant.layout, plant.input_layout, slots=slots)
    stepper = Stepper(plant, dt_ns=DT_NS * substeps, substeps=substeps, seed=3, ring=publisher.ring)
    model = twin(plant, 3, 1e-3)
    force = np.full(5, 0.5, np.float32)
    random = np.random.default_rng(slots * 10 + substeps)
    held = []
    with Subscriber(publisher) as subscriber:
        for tick in range(1, 301):
            if random.random() < 0.1:
                force = random.random(5, np.float32)
                stepper.set("force", force)
            stepper.tick()
            for _ in range(substeps):
                model.step(force)
            assert_same(stepper, model)
            if random.random() < 0.4 and len(held) < 4:
                held.append((subscriber.latest(), tick, {k: v.copy() for k, v in model.fields().items()}))
            elif random.random() < 0.3 and held:
                slot, taken_at, fields = held.pop(0)
                assert slot.step <= taken_at
                if slot.step == taken_at:  # not dropped: it still shows what it showed
                    assert all(
                        slot[name].tobytes() == fields[name].tobytes() for name in ("position", "phase", "square")
                    )
                    assert slot.stamp_ns == taken_at * DT_NS * substeps
                slot.release()
    assert stepper.counters()["dropped"] > 0
    assert stepper.copies_per_tick == 0
    assert stepper.step == 300


def test_the_ring_shows_the_state_at_reset(oscillators):
    plant = oscillators()
    publisher = Publisher(plant.layout, plant.input_layout)
    Stepper(plant, dt_ns=DT_NS, seed=1, ring=publisher.ring)
    with Subscriber(publisher) as subscriber, subscriber.latest() as tick:
        assert tick.step == 0
        assert tick["position"].tolist() == plant.initial(1)["position"].tolist()


def test_commands_come_through_the_mailbox(oscillators):
    plant = oscillators()
    publisher = Publisher(plant.layout, plant.input_layout)
    stepper = Stepper(plant, dt_ns=DT_NS, ring=publisher.ring)
    command = np.arange(5, dtype=np.float32)
    with Subscriber(publisher) as subscriber:
        for _ in range(3):
            with subscriber.next() as tick:
                assert tick.step == stepper.step
                subscriber.send("force", command)
            stepper.set("force", -command)  # the mailbox wins
            stepper.tick()
        stepper.tick(2)
        assert stepper.get("force").tolist() == command.tolist()
        subscriber.send("force", command + 1)
        stepper.reset()  # what was sent before is not for the new run
        stepper.tick()
        assert stepper.get("force").tolist() == [0.5] * 5
    told = stepper.statistics()
    assert told["delay_ticks"].count == told["command_age"].count == 3  # the one that the reset dropped is in neither
    assert told["delay_ticks"].max == 1
    records = stepper.drain()
    assert (records.first_step, records.count) == (1, 1)


def test_two_writers_are_applied_alike_in_lockstep_and_replay(oscillators):
    """Silence is counted in ticks, so who is in charge of a tick is the same however long it takes."""

    def run():
        plant = oscillators()
        with (
            Publisher(plant.layout, plant.input_layout, silence=3) as publisher,
            Subscriber(publisher) as low,
            Subscriber(publisher) as high,
        ):
            high.claim("force", 1)
            stepper = Stepper(plant, dt_ns=DT_NS, ring=publisher.ring)
            keyframe = stepper.keyframe()
            for tick in range(40):
                low.send("force", np.full(5, tick, np.float32))
                if tick % 10 < 4 and tick < 23:
                    high.send("force", np.full(5, -tick, np.float32))
                if tick == 22:
                    high.leave("force")
                stepper.tick()
            return keyframe, stepper.drain()

    (keyframe, first), (_, second) = run(), run()
    applied = first.inputs.view(np.float32)[:, 0].tolist()
    assert applied[:12] == [0, -1, -2, -3, -3, -3, 6, 7, 8, 9, -10, -11]
    assert applied[20:24] == [-20, -21, -22, 23]
    assert np.array_equal(first.inputs, second.inputs)
    assert np.array_equal(first.hashes, second.hashes)
    again = Stepper(oscillators(), dt_ns=DT_NS)
    again.restore(keyframe)
    assert np.array_equal(again.replay(first.inputs).hashes, first.hashes)


@settings(max_examples=30, deadline=None)
@given(
    ticks=st.integers(0, 9),
    poison=st.sampled_from([0.0, np.nan, np.inf, -1e38]),
    substeps=st.integers(1, 3),
    keep=st.booleans(),
)
def test_reset_equals_a_fresh_run(oscillators, ticks, poison, substeps, keep):
    make = lambda: Stepper(oscillators(), dt_ns=DT_NS, substeps=substeps, seed=5, record_capacity=4)  # noqa: E731
    used, fresh = make(), make()
    used.set("force", poison)
    used.tick(ticks)
    if not keep:
        used.drain()
    used.set("force", poison)
    used.reset()
    for stepper in (used, fresh):
        stepper.tick(3)
    assert used.keyframe() == fresh.keyframe()
    left, right = used.drain(), fresh.drain()
    assert (left.first_step, left.count, left.lost) == (right.first_step, right.count, right.lost) == (1, 3, 0)
    assert left.hashes.tobytes() == right.hashes.tobytes()
    assert left.inputs.tobytes() == right.inputs.tobytes()


@pytest.mark.parametrize("act", [lambda s: s.tick(-1), lambda s: s.run(1, ticks=-1)])
def test_negative_counts_are_refused(oscillators, act):
    stepper = Stepper(oscillators(), dt_ns=DT_NS)
    with pytest.raises(OverflowError):
        act(stepper)
    assert stepper.step == 0


def test_a_forked_child_steps_a_copy_of_its_own(oscillators):
    stepper = Stepper(oscillators(), dt_ns=DT_NS)
    stepper.tick(3)
    before = stepper.keyframe()
    child = os.fork()
    if child == 0:
        stepper.tick(100)
        os._exit(stepper.step != 103)
    assert os.waitpid(child, 0)[1] == 0
    assert stepper.keyframe() == before


def test_a_failed_tick_is_named_and_leaves_the_state(oscillators):
    stepper = Stepper(oscillators(limit=7), dt_ns=DT_NS, substeps=2)
    stepper.tick(3)
    before = stepper.keyframe()
    for _ in range(2):
        with pytest.raises(
            KernelError, match=r"conftest.py:\d+:\d+: tick 4 of Oscillators: .*ticks.*in kernel 'count'"
        ) as told:
            stepper.tick(5)
    assert "conftest.py" in told.value.launch
    assert stepper.keyframe() == before
    assert stepper.drain().count == 3
    with pytest.raises(KernelError, match="tick 4 of"):
        stepper.run(1000, clock="free")
    stepper.reset()
    stepper.tick(3)
    assert stepper.keyframe() == before


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda s: s.set("forces", 1.0), r"Oscillators has no input 'forces'; did you mean 'force'\?"),
        (lambda s: s.set("force", [1.0, 2.0]), r"'force' takes f32 of shape \(5,\), not \[1.0, 2.0\]"),
        (lambda s: s.set("force", "much"), "'force' takes f32 of shape"),
        (lambda s: s.get("positions"), "no state, output or input 'positions'; did you mean 'position'"),
        (lambda s: s.run(0), "a period of 0 ns"),
        (lambda s: s.run(1, clock="nativ"), "no clock 'nativ'; did you mean 'native'"),
        (lambda s: s.run(1, overrun="skipp"), "no overrun 'skipp'; did you mean 'skip'"),
        (lambda s: s.request(1), "ticks are requested of a loop that is paused"),
    ],
)
def test_wrong_use(oscillators, act, message):
    with pytest.raises(PlantError, match=message):
        act(Stepper(oscillators(), dt_ns=DT_NS))


@pytest.mark.parametrize(
    "options",
    [
        {"dt_ns": 0},
        {"dt_ns": 1.5},
        {"dt_ns": 1 << 63},
        {"dt_ns": 1, "substeps": 0},
        {"dt_ns": 1, "seed": -1},
        {"dt_ns": 1, "keyframe_every": -1},
        {"dt_ns": 1, "record_capacity": -1},
        {"dt_ns": 1, "record_capacity": 1 << 63},
    ],
)
def test_wrong_construction(oscillators, options):
    with pytest.raises(PlantError, match=r"Oscillators: \w+ is an int of at least [01] below 2\^\d+, not"):
        Stepper(oscillators(), **options)


def test_a_ring_of_another_layout_is_refused(oscillators):
    other = oscillators(size=6)
    with pytest.raises(PlantError, match="the ring was made for other layouts"):
        Stepper(oscillators(), dt_ns=1, ring=Publisher(other.layout, other.input_layout).ring)


def test_an_unknown_initial_state_is_refused(oscillators):
    class Wrong(oscillators):
        def initial(self, seed):
            return {"positon": 0.0}

    with pytest.raises(PlantError, match=r"Wrong.initial: no state 'positon'; did you mean 'position'\?"):
        Stepper(Wrong(), dt_ns=1)


def test_the_loop_ticks_as_tick_does_and_is_steered(oscillators):
    looped, plain = (Stepper(oscillators(), dt_ns=DT_NS, keyframe_every=10) for _ in range(2))
    endings = []
    thread = threading.Thread(target=lambda: endings.append(looped.run(100_000, spin_ns=10_000)))
    looped.pause()  # before the loop: it begins paused
    thread.start()
    while looped.phase != "parked":
        pass
    looped.request(25)
    assert looped.step == 25
    plain.tick(25)
    assert looped.keyframe() == plain.keyframe()
    assert looped.take_keyframe().step == 10
    looped.resume()
    while looped.step < 40:
        pass
    with pytest.raises(PlantError, match="running in another thread; pause or stop it first"):
        looped.get("position")
    looped.set("force", 1.0)
    looped.pause()
    at = looped.step
    assert looped.get("position") is not None
    assert looped.grants == {"priority": "not asked", "affinity": "not asked", "lock_memory": "not asked"}
    looped.stop()
    thread.join()
    assert endings == ["stopped"]
    assert looped.step == at
    assert looped.phase == "idle"
    told = looped.statistics()
    assert told["lateness"].count == at - 25
    assert told["step_time"].count == looped.counters()["ticks"] == at
