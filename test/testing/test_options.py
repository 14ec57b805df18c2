"""What a rig is made from, and what it cannot be made from."""

import pytest

from sim_node.errors import PlantError
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.testing.options import Options


def test_a_plant_is_a_class_a_plant_or_a_reference():
    for plant, parameters in (
        (QuarterCar, {"corners": 2}),
        ("quarter_car", {"corners": 2}),
        (QuarterCar(corners=2), {}),
    ):
        options = Options.of(plant, {"parameters": parameters, "rate": 500.0})
        first, second = options.make(), options.make()
        assert first is not second
        assert first.parameters["corners"] == second.parameters["corners"] == 2
        assert options.dt_ns == 2_000_000


@pytest.mark.parametrize(
    ("plant", "given", "words"),
    [
        (QuarterCar, {"rat": 1.0}, "no option 'rat'; did you mean 'rate'"),
        (None, {}, r"not None: @pytest.mark.rig\(MyPlant\)"),
        (int, {}, "made from a plant, not <class 'int'>"),
    ],
)
def test_names_and_plants_are_checked(plant, given, words):
    with pytest.raises(PlantError, match=words):
        Options.of(plant, given)


def test_values_are_checked_when_they_are_needed():
    with pytest.raises(PlantError, match=r"rate is 0\.001 to 1e6"):
        Options(plant=QuarterCar, rate=0.0).dt_ns  # noqa: B018
    with pytest.raises(PlantError, match="a list of words, not 'controller'"):
        Options(plant=QuarterCar, controller="controller").command  # noqa: B018
    with pytest.raises(PlantError, match="has its own already"):
        Options(plant=QuarterCar(), parameters={"corners": 2}).make()


def test_a_plant_inside_a_function_is_refused():
    class Inside(QuarterCar):
        pass

    with pytest.raises(PlantError, match="Inside is a class inside a function"):
        Options(plant=Inside).make()


def test_a_controller_is_a_function_or_a_process(damper):
    assert Options(plant=QuarterCar, controller=damper).function is damper
    assert Options(plant=QuarterCar, controller=damper).command is None
    assert Options(plant=QuarterCar, controller=["ctl", "{ring}"]).command == ["ctl", "{ring}"]
    assert Options(plant=QuarterCar).command is None
