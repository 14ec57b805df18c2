import pytest

import sim_node as sn
from sim_node.errors import PlantError
from sim_node.plant import Plant, Stepper


def test_parameters_are_checked(oscillators):
    assert dict(oscillators(stiffness=2).parameters) == {"size": 5, "stiffness": 2.0, "limit": 2**31 - 1}
    assert oscillators(size=3).size == 3
    with pytest.raises(PlantError, match=r"Oscillators: parameter 'size' is in 1 … 100, not 0"):
        oscillators(size=0)
    with pytest.raises(PlantError, match=r"Oscillators has no parameter 'stifness'; did you mean 'stiffness'\?"):
        oscillators(stifness=1.0)


def test_the_title_is_the_first_line(oscillators):
    assert oscillators.title == "Springs side by side"
    assert type("Silent", (Plant,), {}).title == ""


def test_layouts_hold_states_then_outputs(oscillators):
    plant = oscillators(size=3)
    assert [field.name for field in plant.layout] == ["position", "phase", "square"]
    assert [field.name for field in plant.state_layout] == ["position", "velocity", "phase", "ticks", "square"]
    assert [(f.name, f.dtype, f.shape, f.unit) for f in plant.input_layout] == [("force", "f32", (3,), "N")]


@pytest.mark.parametrize("name", ["build", "initial", "layout", "_hidden"])
def test_names_that_are_taken(name):
    with pytest.raises(PlantError, match=f"plant Wrong: '{name}' cannot be declared: the name is taken"):
        type("Wrong", (Plant,), {name: sn.state(float)})


def test_build_is_required():
    with pytest.raises(PlantError, match="Idle has no build"):
        Stepper(type("Idle", (Plant,), {})(), dt_ns=1)


def test_the_base_is_no_plant():
    with pytest.raises(PlantError, match=r"write a class of your own"):
        sn.Plant()


def test_a_stepper_steps_a_plant(oscillators):
    with pytest.raises(PlantError, match=r"a stepper steps a plant, not <class .*; pass Oscillators\(\)"):
        sn.Stepper(oscillators, dt_ns=1)
    with pytest.raises(PlantError, match=r"not 3; pass a plant"):
        sn.Stepper(3, dt_ns=1)
