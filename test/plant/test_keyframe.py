import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_node.errors import PlantError
from sim_node.plant import Stepper
from sim_node.plant.keyframe import versions_of

DT_NS = 1_000_000


@settings(max_examples=20, deadline=None)
@given(before=st.integers(0, 7), after=st.integers(1, 7), substeps=st.integers(1, 4))
def test_a_keyframe_continues_as_its_run_did(oscillators, before, after, substeps):
    stepper, other = (Stepper(oscillators(), dt_ns=DT_NS, substeps=substeps, seed=seed) for seed in (1, 2))
    stepper.set("force", 3.0)
    stepper.tick(before)
    keyframe = stepper.keyframe()
    assert keyframe.step == before
    other.tick(5)
    other.restore(keyframe)
    assert other.step == before
    for each in (stepper, other):
        each.tick(after)
    assert stepper.hashes().tolist() == other.hashes().tolist()
    assert stepper.keyframe() == replace(other.keyframe(), seed=1)


def test_what_a_keyframe_says(oscillators):
    stepper = Stepper(oscillators(size=2), dt_ns=DT_NS, substeps=2, seed=9)
    keyframe = stepper.keyframe()
    assert keyframe.plant.endswith(":Oscillators")
    assert json.loads(keyframe.parameters) == dict(stepper.plant.parameters)
    assert json.loads(keyframe.versions).keys() >= {"sim_node", "math", "python"}
    assert (keyframe.dt_ns, keyframe.substeps, keyframe.seed) == (DT_NS, 2, 9)
    assert (
        keyframe.plan_digest == stepper.plan_digest == Stepper(oscillators(size=2), dt_ns=DT_NS, substeps=2).plan_digest
    )
    assert keyframe.plan_digest != Stepper(oscillators(size=2), dt_ns=DT_NS, substeps=3).plan_digest
    assert len(keyframe.state) == stepper.state_layout.size
    assert stepper.state_layout["position"].view(keyframe.state).tolist() == stepper.get("position").tolist()
    with pytest.raises(PlantError, match="layout of the state differs"):
        Stepper(oscillators(size=3), dt_ns=DT_NS).restore(keyframe)
    with pytest.raises(PlantError, match="keyframe of step 4 holds no state"):
        stepper.restore(replace(keyframe, step=4, state=b""))
    stepper.tick()
    stepper.restore(replace(keyframe, state=b""))
    assert stepper.keyframe() == keyframe


def test_keyframes_wait_and_are_skipped_meanwhile(oscillators):
    stepper = Stepper(oscillators(), dt_ns=DT_NS, keyframe_every=3)
    assert stepper.take_keyframe() is None
    stepper.tick(7)
    taken = stepper.take_keyframe()
    other = Stepper(oscillators(), dt_ns=DT_NS)
    other.tick(3)
    assert taken == other.keyframe()
    assert stepper.take_keyframe() is None
    assert stepper.counters()["keyframes_skipped"] == 1
    stepper.tick(2)
    assert stepper.take_keyframe().step == 9


def test_a_keyframe_says_which_kernels_have_guards():
    assert json.loads(versions_of(("step",)))["guards"] == "clamp in step"
    assert "guards" not in json.loads(versions_of(()))
