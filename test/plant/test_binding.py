import pytest

from sim_node import dtypes
from sim_node.plant.binding import Binding, StateBinding


def test_what_a_launch_takes(oscillators):
    plant = oscillators(size=3)
    assert plant.force.shape == plant.position.shape == plant.position.next.shape == (3,)
    assert plant.ticks.shape == (1,)
    assert plant.position.next is plant.position.next is not plant.position
    assert oscillators.position.unit == "m"


def test_a_binding_is_what_users_write():
    state = StateBinding("position", dtypes.vec3, 4)
    assert (repr(state), repr(state.next)) == ("self.position", "self.position.next")
    assert type(state.next) is Binding
    assert state.dtype == dtypes.vec3


@pytest.mark.parametrize(("name", "why"), [("next", "only a state's value has one"), ("size", "it stands for memory")])
def test_a_name_that_it_has_not(name, why):
    with pytest.raises(AttributeError, match=f"self.force has no '{name}': {why}"):
        getattr(Binding("force", dtypes.vec3, 4), name)
