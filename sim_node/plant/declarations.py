"""What a plant declares in its class body: parameters, inputs, states and outputs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, overload

import numpy as np

from sim_node import dtypes
from sim_node.errors import PlantError
from sim_node.errors.suggestion import suggestion
from sim_node.plant.binding import Binding, StateBinding

Value = bool | int | float | str
Shape = int | str | tuple[int | str, ...]
T = TypeVar("T", bound=Value)

ZERO = False  # the one that every element takes, bool included
MOST_ELEMENTS = 2**31 - 1  # of an array, as in a launch
# Where the readers of what is published are: what they read there is written there, and copied for both only.
PLACES = ("host", "device", "both")

_ACCEPTED: dict[type, tuple[type, ...]] = {
    bool: (bool, np.bool_),
    int: (int, np.integer),
    float: (int, float, np.integer, np.floating),
    str: (str,),
}
_KINDS: dict[type, str] = {bool: "true or false", int: "an int", float: "a number", str: "text"}


@dataclass(eq=False)
class Declaration:
    """One name of a plant's class body. Attributes: ``name``, ``unit``, ``doc``."""

    unit: str
    doc: str
    name: str = field(default="", init=False)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __set__(self, plant: Any, value: object) -> None:
        raise PlantError(f"{type(plant).__name__}.{self.name} cannot be assigned; {self._remedy}")

    _remedy = "a plant's kernels write it"


@dataclass(eq=False)
class Parameter(Declaration, Generic[T]):
    """A number, switch or text that is fixed when the plant is made; its type is that of ``default``."""

    default: T
    min: float | None
    max: float | None

    _remedy = "make a plant with another value"

    def __post_init__(self) -> None:
        if type(self.default) not in _KINDS:
            raise PlantError(f"a parameter's default is a bool, int, float or str, not {self.default!r}")
        if isinstance(self.default, (bool, str)) and (self.min is not None or self.max is not None):
            raise PlantError(f"a parameter with default {self.default!r} has no min or max; only numbers have")
        try:
            self.convert(self.default)
        except PlantError as fault:
            raise PlantError(f"a parameter's default {fault}") from None

    @property
    def range(self) -> str:
        """The values it takes, such as ``0.0 … 1.0 m``; empty where any will do."""
        if self.min is None and self.max is None:
            return ""
        low, high = ("" if bound is None else repr(bound) for bound in (self.min, self.max))
        return " ".join(f"{low} … {high} {self.unit}".split())

    def convert(self, value: object) -> T:
        """Check a value, and convert it to the declared type where that loses nothing: an int is a float too.

        Raises PlantError saying what is accepted, without the name.
        """
        kind = type(self.default)
        given: Any = value
        is_bool = isinstance(value, (bool, np.bool_))
        if not isinstance(value, _ACCEPTED[kind]) or (is_bool and kind is not bool):
            raise PlantError(f"takes {_KINDS[kind]}, not {value!r}")
        converted: Any = kind(given)
        if kind in (int, float):
            low, high = -math.inf if self.min is None else self.min, math.inf if self.max is None else self.max
            if not low <= converted <= high:
                raise PlantError(f"is in {self.range or 'the numbers'}, not {value!r}")
        return converted  # type: ignore[no-any-return]

    @overload
    def __get__(self, plant: None, owner: type) -> Parameter[T]: ...
    @overload
    def __get__(self, plant: object, owner: type) -> T: ...
    def __get__(self, plant: Any, owner: type) -> Any:
        """Give the declaration on the class, the value on a plant."""
        return self if plant is None else plant._values[self.name]


@dataclass(eq=False)
class Variable(Declaration):
    """An array of elements that kernels read or write."""

    dtype: dtypes.Element
    shape: Shape
    initial: Any

    def counts(self, values: Mapping[str, Value]) -> tuple[int, ...]:
        """Work the shape out from the values of parameters.

        Raises PlantError for what is not a count.
        """
        axes = self.shape if isinstance(self.shape, tuple) else (self.shape,)
        counts = tuple(self._count(axis, values) for axis in axes)
        if math.prod(counts) > MOST_ELEMENTS:
            raise PlantError(f"'{self.name}' has {math.prod(counts)} elements; an array has at most {MOST_ELEMENTS}")
        return counts

    def _count(self, axis: object, values: Mapping[str, Value]) -> int:
        count = axis
        if isinstance(axis, str):
            if axis not in values:
                raise PlantError(
                    f"'{self.name}' has the shape '{axis}', which is no parameter{suggestion(axis, values)}"
                )
            count = values[axis]
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise PlantError(
                f"'{self.name}' has the extent {axis!r}{'' if count is axis else f' = {count!r}'}; "
                "a shape is an int of at least 0, the name of an int parameter, or a tuple of those"
            )
        return count


@dataclass(eq=False)
class Input(Variable):
    """A command that the world gives: a mailbox, and in ROS a subscription.

    A ``hidden`` one is for who runs the plant: controllers are not asked for it.
    """

    hidden: bool = False

    _remedy = "use Stepper.set, or send a command"

    @overload
    def __get__(self, plant: None, owner: type) -> Input: ...
    @overload
    def __get__(self, plant: object, owner: type) -> Binding: ...
    def __get__(self, plant: Any, owner: type) -> Any:
        """Give the declaration on the class, what a launch takes on a plant."""
        return self if plant is None else plant._bindings[self.name]


@dataclass(eq=False)
class State(Variable):
    """What a plant remembers from substep to substep; a published one is a field of the ring."""

    publish: str  # one of PLACES, or '' where nobody else reads it

    @overload
    def __get__(self, plant: None, owner: type) -> State: ...
    @overload
    def __get__(self, plant: object, owner: type) -> StateBinding: ...
    def __get__(self, plant: Any, owner: type) -> Any:
        """Give the declaration on the class, on a plant what a launch takes: the value, with its ``next``."""
        return self if plant is None else plant._bindings[self.name]


@dataclass(eq=False)
class Output(Variable):
    """What a plant tells and does not need itself: written in each substep, published in each tick."""

    publish: str  # one of PLACES

    @overload
    def __get__(self, plant: None, owner: type) -> Output: ...
    @overload
    def __get__(self, plant: object, owner: type) -> Binding: ...
    def __get__(self, plant: Any, owner: type) -> Any:
        """Give the declaration on the class, what a launch takes on a plant."""
        return self if plant is None else plant._bindings[self.name]


def parameter(
    default: T, doc: str = "", unit: str = "", min: float | None = None, max: float | None = None
) -> Parameter[T]:
    """Declare a parameter of the type of its default: bool, int, float or str; ``min`` and ``max`` belong to the range.

    Raises PlantError when the default is of another type or out of range.
    """
    return Parameter(unit, doc, default, min, max)


def _element(dtype: object) -> dtypes.Element:
    try:
        found = dtypes.element(dtype)
    except TypeError as fault:
        raise PlantError(str(fault)) from None
    if isinstance(found, dtypes.Struct):
        raise PlantError(f"a plant's variables hold numbers, and {found!r} is a struct; declare one variable a field")
    return found


def input(dtype: object, shape: Shape = (), unit: str = "", doc: str = "", initial: Any = ZERO) -> Input:
    """Declare an input: held from its last command on, ``initial`` (a value or an array of the shape) before.

    ``shape`` counts elements: an int, the name of an int parameter, or a tuple of those; () is one element.
    """
    return Input(unit, doc, _element(dtype), shape, initial)


def _published(publish: object) -> str:
    """Where readers are; raises PlantError for what says no such thing."""
    place = "host" if publish is True else publish
    if not isinstance(place, str) or place not in PLACES:
        raise PlantError(f"publish is where the readers are: 'host' (or True), 'device' or 'both', not {publish!r}")
    return place


def state(
    dtype: object, shape: Shape = (), unit: str = "", doc: str = "", publish: bool | str = False, initial: Any = ZERO
) -> State:
    """Declare a state: kernels read its value and must write every element of its ``next`` in each substep.

    ``shape`` as for ``input``; ``publish`` makes it a field of the ring, for readers on the 'host' (or True), on the
    'device' that the plant is stepped on, or 'both', which takes a copy a tick; ``initial`` holds where
    ``Plant.initial`` tells nothing. Raises PlantError for another place.
    """
    return State(unit, doc, _element(dtype), shape, initial, "" if publish is False else _published(publish))


def output(dtype: object, shape: Shape = (), unit: str = "", doc: str = "", publish: str = "host") -> Output:
    """Declare an output: a field of the ring of which kernels must write every element in each substep.

    ``shape`` and ``publish`` as for ``state``. It is 0 until the first tick.
    """
    return Output(unit, doc, _element(dtype), shape, ZERO, _published(publish))


def _of_kind(found: Mapping[str, Declaration], kind: type[Any]) -> Mapping[str, Any]:
    return {name: declared for name, declared in found.items() if isinstance(declared, kind)}


@dataclass(frozen=True)
class Declarations:
    """All that a plant's class declares, by name, in order, those of its bases first."""

    parameters: Mapping[str, Parameter[Any]]
    inputs: Mapping[str, Input]
    states: Mapping[str, State]
    outputs: Mapping[str, Output]

    @staticmethod
    def of(kind: type) -> Declarations:
        """Collect the declarations of a class.

        Raises PlantError where a class replaces what a base declares by something that is no declaration.
        """
        found: dict[str, Declaration] = {}
        for base in reversed(kind.__mro__):
            for name, value in vars(base).items():
                if isinstance(value, Declaration):
                    found[name] = value
                elif name in found:
                    was = type(found[name]).__name__.lower()
                    raise PlantError(
                        f"{base.__name__}.{name} = {value!r} replaces the {was} of that name; "
                        f"declare it again with sn.{was}(…)"
                    )
        return Declarations(*(_of_kind(found, kind) for kind in (Parameter, Input, State, Output)))

    def __iter__(self) -> Iterator[Declaration]:
        for group in (self.parameters, self.inputs, self.states, self.outputs):
            yield from group.values()
