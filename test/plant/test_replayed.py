"""A replay does the ticks of the recorded run, and hands back what each left."""

import numpy as np
import pytest

from sim_node.errors import PlantError
from sim_node.plant import Stepper

DT_NS = 1_000_000


@pytest.mark.parametrize("substeps", [1, 2, 3, 4, 5])
def test_a_replay_ticks_as_the_recorded_run_did_and_leaves_no_record(oscillators, substeps):
    recorded, replaying = (
        Stepper(oscillators(), dt_ns=DT_NS, substeps=substeps, keyframe_every=2, record_capacity=64) for _ in range(2)
    )
    names = ("force", "velocity", "position", "square")
    seen = {name: [] for name in names}
    for force in np.random.default_rng(substeps).normal(size=(40, 5)):
        recorded.set("force", force.astype(np.float32))
        recorded.tick()
        for name in names:
            seen[name].append(recorded.get(name))
    records = recorded.drain()
    replayed = replaying.replay(records.inputs, names)
    assert replayed.stopped is None
    assert replayed.hashes.tobytes() == records.hashes.tobytes()
    for name in names:
        assert replayed.values[name].tobytes() == np.array(seen[name]).tobytes()
        assert replayed.values[name].shape == (40, 5)
    assert (replaying.step, replaying.drain().count, replaying.take_keyframe()) == (40, 0, None)
    assert replaying.keyframe() == recorded.keyframe()
    with pytest.raises(PlantError, match="no state, output or input 'forc'; did you mean 'force'"):
        replaying.replay(records.inputs, ["forc"])
    with pytest.raises(ValueError, match="not the inputs of 40 ticks"):
        replaying.replay(records.inputs[:, 1:])


def test_a_replay_tells_where_a_kernel_stopped(oscillators):
    stepper = Stepper(oscillators(limit=7), dt_ns=DT_NS)
    replayed = stepper.replay(np.zeros((20, stepper.input_layout.size), np.uint8), ["ticks"])
    assert replayed.values["ticks"].tolist() == list(range(1, 8))
    assert (len(replayed.hashes), stepper.step) == (7, 7)
    assert "tick 8 of Oscillators" in str(replayed.stopped)
