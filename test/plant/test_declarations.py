from types import SimpleNamespace

import numpy as np
import pytest

import sim_node as sn
from sim_node.errors import PlantError
from sim_node.plant import Plant
from sim_node.plant.declarations import Declarations
from sim_node.plant.value import array_of


class Base(Plant):
    mass = sn.parameter(1, unit="kg", min=1, max=9)
    force = sn.input(float)
    place = sn.state(sn.vec3, shape=("mass", 2))


class Derived(Base):
    name = sn.parameter("a")
    place = sn.state(sn.vec3, shape="mass", publish=True)
    heat = sn.output(sn.float64)


def test_bases_come_first_and_a_name_keeps_its_place():
    declared = Derived.declarations
    assert [each.name for each in declared] == ["mass", "name", "force", "place", "heat"]
    assert declared.states["place"].publish
    assert Derived.mass is declared.parameters["mass"]
    assert Base.declarations.states["place"].shape == ("mass", 2)


def test_shapes_are_resolved_from_parameters():
    assert Base(mass=3).counts(Base.place) == (3, 2)
    assert Derived(mass=3).counts(Derived.place) == (3,)
    assert Derived(mass=3).counts(Derived.heat) == (1,)[:0]


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ("masss", r"shape 'masss', which is no parameter; did you mean 'mass'\?"),
        ("ratio", r"extent 'ratio' = 0.5; a shape is an int of at least 0, the name of an int parameter"),
        (-1, r"extent -1; a shape"),
        (True, r"extent True; a shape"),
        ((2, 1.5), r"extent 1.5; a shape"),
    ],
)
def test_what_is_no_shape_is_refused(shape, message):
    class Wrong(Plant):
        mass = sn.parameter(1)
        ratio = sn.parameter(0.5)
        place = sn.state(float, shape=shape)

    with pytest.raises(PlantError, match=r"Wrong: 'place' has the " + message):
        Wrong()


@pytest.mark.parametrize(
    ("default", "value", "converted"),
    [
        (1.0, 2, 2.0),
        (1.0, np.float32(0.5), 0.5),
        (1, np.int64(7), 7),
        (True, np.bool_(False), False),
        ("x", "y", "y"),
    ],
)
def test_values_that_lose_nothing_are_converted(default, value, converted):
    made = sn.parameter(default).convert(value)
    assert made == converted
    assert type(made) is type(default)


@pytest.mark.parametrize(
    ("declared", "value", "message"),
    [
        (sn.parameter(1), 1.0, "takes an int, not 1.0"),
        (sn.parameter(1), True, "takes an int, not True"),
        (sn.parameter(1.0), False, "takes a number, not False"),
        (sn.parameter(1.0), "1", "takes a number, not '1'"),
        (sn.parameter(True), 1, "takes true or false, not 1"),
        (sn.parameter("a"), 1, "takes text, not 1"),
        (sn.parameter(0.5, unit="m", min=0.0, max=1.0), 1.5, r"is in 0.0 … 1.0 m, not 1.5"),
        (sn.parameter(1, min=1), 0, "is in 1 …, not 0"),
        (sn.parameter(1.0), float("nan"), "is in the numbers, not nan"),
    ],
)
def test_other_values_are_refused(declared, value, message):
    with pytest.raises(PlantError, match=message):
        declared.convert(value)


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda: sn.parameter(None), "a parameter's default is a bool, int, float or str, not None"),
        (lambda: sn.parameter(2.0, max=1.0), r"a parameter's default is in … 1.0, not 2.0"),
        (lambda: sn.parameter("a", min=0), "only numbers have"),
        (lambda: sn.state("f33"), "'f33' is not a dtype of the kernel language"),
    ],
)
def test_what_cannot_be_declared(declare, message):
    with pytest.raises(PlantError, match=message):
        declare()


def test_a_declaration_is_not_lost_to_a_value():
    with pytest.raises(PlantError, match=r"plant Wrong: Wrong.mass = 5 replaces the parameter .* sn.parameter\("):

        class Wrong(Base):
            mass = 5


def test_what_is_declared_is_not_assigned():
    plant = Derived()
    for name, remedy in (("mass", "another value"), ("force", "Stepper.set"), ("place", "kernels write it")):
        with pytest.raises(PlantError, match=f"Derived.{name} cannot be assigned; .*{remedy}"):
            setattr(plant, name, 1)


def test_of_a_class_with_nothing():
    assert list(Declarations.of(SimpleNamespace)) == []


@pytest.mark.parametrize("dtype", [bool, sn.float32, sn.int32, sn.uint64, sn.vec3, sn.vec2i])
def test_everything_begins_at_zero(dtype):
    variables = {"given": sn.input(dtype, shape=2), "kept": sn.state(dtype, shape=2), "told": sn.output(dtype, shape=2)}
    plant = type("Idle", (Plant,), {**variables, "build": lambda self, plan, dt: None})()
    for name in variables:
        field = (plant.input_layout if name == "given" else plant.state_layout)[name]
        assert not array_of(field, getattr(type(plant), name).initial).any()


def test_publish_says_where_the_readers_are():
    assert [sn.state(float, publish=given).publish for given in (False, True, "host", "device", "both")] == [
        "", "host", "host", "device", "both",
    ]  # fmt: skip
    assert [sn.output(float).publish, sn.output(float, publish="device").publish] == ["host", "device"]
    for wrong in ("gpu", 1, None):
        with pytest.raises(PlantError, match=r"where the readers are: 'host' \(or True\), 'device' or 'both'"):
            sn.state(float, publish=wrong)
    with pytest.raises(PlantError, match="not False"):
        sn.output(float, publish=False)
