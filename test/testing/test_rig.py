"""A rig: time as the test says, and histories and failures that tell what happened."""

import numpy as np
import pytest

from sim_node.errors import PlantError
from sim_node.replay.verify import verify
from sim_node.testing.rig import _source


def test_time_goes_on_as_the_test_says(make):
    rig = make()
    rig.run(0.1)
    assert (rig.step, rig.time) == (100, pytest.approx(0.1))
    assert rig.until(lambda t: t.time >= 0.15, timeout=1.0) == pytest.approx(0.15)
    assert rig.until(lambda t: True, timeout=0.0) == pytest.approx(0.15)
    rig.run(0)
    assert rig.step == 150
    assert [act.what for act in rig.acts][:2] == ["run 0.1 s", "wait at most 1 s until lambda t: t.time >= 0.15"]
    for wrong in (-1.0, float("nan"), 1e10):
        with pytest.raises(PlantError, match="goes on for 0 to 1e9 seconds"):
            rig.run(wrong)


def test_histories_are_those_of_the_run(make):
    rig = make()
    seen = {name: [] for name in ("body", "tyre_force", "force")}

    def watch(t):
        for name, values in seen.items():
            values.append(t[name].copy())
        return t.step == 300

    rig.run(0.1)
    rig.set("force", [1.0, 2.0, 3.0, 4.0])
    rig.until(watch, timeout=1.0)
    for name, values in seen.items():
        seconds, found = rig.history(name)
        np.testing.assert_array_equal(found[100:], np.array(values)[1:])
        np.testing.assert_allclose(seconds, np.arange(1, 301) * 1e-3)
    assert rig.get("force").tolist() == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(PlantError, match="'bodi'; did you mean 'body'"):
        rig.history("bodi")


def test_a_time_out_shows_the_last_values(make):
    rig = make()
    rig.run(0.01)
    with pytest.raises(AssertionError) as caught:
        rig.until(lambda t: t["body"][0] > 5.0 and t["wheel"][0] > 5.0, timeout=0.2)
    told = str(caught.value)
    assert told.startswith('lambda t: t["body"][0] > 5.0 and t["wheel"][0] > 5.0 did not hold within 0.2 s')
    assert "at t = 0.21 s (tick 210)" in told
    assert "body = [" in told
    assert "] m, from " in told
    assert "wheel = " not in told  # the condition never asked for it
    assert str(rig.bag) in told


def test_a_time_out_of_a_condition_that_asks_for_nothing_shows_all(make):
    rig = make()

    def never(t):
        return False

    with pytest.raises(AssertionError, match=r"(?s)^never did not hold.*force = .*tyre_force = "):
        rig.until(never, timeout=0.002)


def test_a_condition_of_many_truths_is_told(make):
    with pytest.raises(PlantError, match=r"gives 4 truths, one an element: end it with \.all"):
        make().until(lambda t: t["body"] > 1.0, timeout=1.0)


def test_a_function_answers_tick_k_for_tick_k_plus_1(make):
    steps = []

    def controller(t):
        steps.append(t.step)
        return {"force": float(t.step)} if t.step % 2 == 0 else None

    rig = make(controller=controller)
    rig.run(0.006)
    assert steps == [0, 1, 2, 3, 4, 5]
    assert rig.history("force").values[:, 0].tolist() == [0, 0, 2, 2, 4, 4]


def test_what_a_controller_raises_comes_through_and_the_ticks_before_are_kept(make):
    def controller(t):
        return 1 / (5 - t.step)

    with pytest.raises(PlantError, match=r"controller controller returned 0.2; it returns commands by name"):
        make(controller=controller).run(1.0)
    rig = make(file="second.mcap", controller=lambda t: {} if t.step < 5 else {}[0])
    with pytest.raises(KeyError):
        rig.run(1.0)
    assert len(rig.history("body").seconds) == 5


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (lambda t: t["x"][0] > 1, 'lambda t: t["x"][0] > 1'),
        ((lambda t: max(1, 2)), "lambda t: max(1, 2)"),
        (len, "len"),
    ],
)
def test_conditions_are_quoted(condition, text):
    assert _source(condition) == text


def test_a_fault_lies_to_the_controller_and_is_in_the_bag(make, damper):
    plain, rig = make(controller=damper), make(controller=damper, faults=["body_velocity", "force"], file="other.mcap")
    rig.fault("body_velocity", stuck_at=0.0, element=1, after=0.1)
    rig.fault("force", offset=7.0, until=0.05)
    for each in (plain, rig):
        each.run(0.3)
    seen, true = rig.history("body_velocity").values, rig.history("body_velocity.true").values
    assert (seen[100:, 1] == 0.0).all()
    np.testing.assert_array_equal(np.delete(seen, 1, axis=1), np.delete(true, 1, axis=1))
    force, applied = rig.history("force").values, rig.history("force.applied").values
    np.testing.assert_array_equal(applied[:50], force[:50] + np.float32(7.0))
    np.testing.assert_array_equal(applied[50:], force[50:])
    assert (force[101:, 1] == 0.0).all()
    assert not np.array_equal(true[150:, 1], plain.history("body_velocity").values[150:, 1])
    rig.clear("body_velocity")
    rig.run(0.01)
    np.testing.assert_array_equal(rig.get("body_velocity"), rig.get("body_velocity.true"))
    assert [act.what for act in rig.acts if act.what.startswith(("fault", "clear"))] == [
        "fault: body_velocity[1] stuck_at 0 from tick 101",
        "fault: force offset 7 from tick 1 to 50",
        "clear 1 faults of body_velocity",
    ]
    rig.clear()
    rig.__exit__(None, None, None)
    report = verify(rig.bag)
    assert (report.verified, report.diverged) == (310, 0)


def test_a_process_is_not_asked_for_faults(make, process):
    rig = make(controller=process, faults=["body_velocity"])
    rig.fault("body_velocity", gain=-1.0)
    rig.run(0.05)
    assert np.array_equal(rig.get("body_velocity"), -rig.get("body_velocity.true"))


def test_a_rig_without_faults_says_how_to_have_them(make):
    rig = make()
    with pytest.raises(PlantError, match="QuarterCar was built without faults; allow those of 'body'"):
        rig.fault("body", stuck_at=0.0)
    rig.clear()
