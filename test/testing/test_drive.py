"""A plant that a test drives: the same run whoever controls it, and the end of a controller is told."""

import pytest

from sim_node.errors import PlantError, SimNodeError
from sim_node.replay.verify import verify
from sim_node.testing.drive import Drive


def test_a_function_and_a_process_make_the_same_bag(make, damper, process):
    bags = []
    for name, controller in (("function", damper), ("process", process)):
        rig = make(file=f"{name}.mcap", controller=controller, keyframe_every=100)
        rig.run(0.2)
        rig.until(lambda t: t["body"].max() > 0.005, timeout=1.0)
        rig.run(0.05)
        rig.__exit__()
        assert rig.history("force").values.any()
        bags.append(rig.bag)
    assert bags[0].read_bytes() == bags[1].read_bytes()
    report = verify(bags[1])
    assert report.verified == rig.step == report.ticks
    assert report.keyframes == 1 + rig.step // 100


def test_a_controller_that_ends_is_told(make, process):
    rig = make(controller=[*process, "20"], limit=30.0)
    with pytest.raises(SimNodeError, match=r"(?s)after tick 20 the controller ended with exit code 1.*that is enough"):
        rig.run(1.0)
    rig = make(file="silent.mcap", controller=process, limit=1e-6)
    with pytest.raises(PlantError, match=r"no answer to tick \d+ on 'force' within 0.001 ms"):
        rig.run(10.0)


def test_misses_can_be_held_and_are_in_the_bag(make, process):
    rig = make(controller=[*process, "20"], limit=0.01, miss="hold")
    rig.run(0.03)
    rig.__exit__()
    assert rig.stepper.answers()["force"]["unanswered"] >= 10
    assert verify(rig.bag).verified == 30


def test_real_time_ticks_by_the_clock(make, damper, process):
    for number, controller in enumerate((damper, process, None)):
        rig = make(file=f"{number}.mcap", controller=controller, realtime=True)
        rig.run(0.1)
        rig.until(lambda t: t.step >= 120, timeout=0.1)
        rig.__exit__()
        assert rig.step == 120
        assert rig.stepper.statistics()["lateness"].count == 120
        assert rig.wall_s > 0.1  # the clock cannot be ahead of time
        assert verify(rig.bag).verified == 120


def test_an_input_that_there_is_not(make, process):
    with pytest.raises(PlantError, match="answers: QuarterCar has no input 'forse'; did you mean 'force'"):
        make(controller=process, answers=["forse"])


def test_rows_are_those_of_all_ticks(make, tmp_path):
    options = make().options
    with Drive(options, tmp_path / "rows.mcap") as drive:
        drive.begin()
        drive.stepper.set("force", 2.0)
        drive.tick(3)
        assert drive.rows().view("f4")[:, :4].tolist() == [[2.0] * 4] * 3
        assert drive.room == 512
