"""Parameters as ROS users write them: declared once, converted from what YAML makes of them, refused with a reason."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.lifecycle import LifecycleNode
from rclpy.parameter import Parameter

from sim_node.errors import SimNodeError
from sim_node.errors.suggestion import suggestion
from sim_node.plant import Plant

Value = bool | int | float | str | tuple[str, ...]

# Where a plant's own parameters stand among the node's.
PLANT = "plant_parameters."

INT_MAX = 2**63 - 1
FLOAT_MAX = sys.float_info.max

# What ROS declares by itself, or reads from the overrides alone.
_FOREIGN = ("use_sim_time", "qos_overrides", "start_type_description_service")


class ParameterError(SimNodeError, ValueError):
    """A parameter's value is refused."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A parameter: its type is that of ``default``; ``low`` and ``high`` are inclusive.

    ``read_by`` is the transition that reads it: configure, or activate, before which it may change while inactive.
    """

    name: str
    default: Value
    doc: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    read_by: str = "configure"

    def convert(self, value: object) -> Value:
        """Return the value in the declared type.

        YAML reads ``1000`` as an integer and ``1e-3`` as text; both are accepted where a double is meant.
        Raises ParameterError saying what is accepted.
        """
        try:
            converted = _CONVERSIONS[type(self.default)](value)
        except (ValueError, OverflowError):
            wanted = _WANTED[type(self.default)]
            raise ParameterError(f"parameter '{self.name}' takes {wanted}, not {value!r}") from None
        if self.choices and converted not in self.choices:
            raise ParameterError(f"parameter '{self.name}' is one of {', '.join(self.choices)}, not {value!r}")
        if isinstance(converted, (int, float)):
            if self.low is not None and converted < self.low:
                raise ParameterError(
                    f"parameter '{self.name}' = {value!r} is less than {self.low:g} {self.unit}".rstrip()
                )
            if self.high is not None and converted > self.high:
                raise ParameterError(
                    f"parameter '{self.name}' = {value!r} is more than {self.high:g} {self.unit}".rstrip()
                )
        return converted

    def descriptor(self) -> ParameterDescriptor:
        """Describe the parameter to ROS tools.

        Typing is dynamic so that a value of another type reaches ``convert``, which tells what is wrong with it.
        """
        described = ParameterDescriptor(
            description=f"{self.doc} [{self.unit}]" if self.unit else self.doc,
            additional_constraints=f"one of {', '.join(self.choices)}" if self.choices else "",
            dynamic_typing=True,
        )
        if self.low is None and self.high is None:
            return described
        if isinstance(self.default, float):
            low = -FLOAT_MAX if self.low is None else float(self.low)
            high = FLOAT_MAX if self.high is None else float(self.high)
            described.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
        else:
            bottom = -INT_MAX if self.low is None else int(self.low)
            top = INT_MAX if self.high is None else int(self.high)
            described.integer_range = [IntegerRange(from_value=bottom, to_value=top)]
        return described


def _to_bool(value: object) -> bool:
    words = {"true": True, "false": False}
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    if not isinstance(value, bool):
        raise ValueError
    return value


def _to_float(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError
    number = float(value)
    if not math.isfinite(number):
        raise ValueError
    return number


def _to_int(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        whole = value
    elif isinstance(value, str) and value.strip().lstrip("+-").isdecimal():
        whole = int(value)
    else:
        number = _to_float(value)
        whole = int(number)
        if whole != number:
            raise ValueError
    if abs(whole) > INT_MAX:
        raise ValueError
    return whole


def _to_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _to_texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise ValueError
    return tuple(_to_text(each) for each in value)


_CONVERSIONS: dict[type, Callable[[object], Value]] = {
    bool: _to_bool, int: _to_int, float: _to_float, str: _to_text, tuple: _to_texts
}  # fmt: skip
_WANTED = {
    bool: "true or false", int: "a whole number", float: "a finite number", str: "text", tuple: "a list of texts"
}  # fmt: skip


def of_plant(kind: type[Plant]) -> tuple[Declaration, ...]:
    """Declare a plant's parameters to ROS: their names under the prefix, the rest as the plant has it."""
    return tuple(
        Declaration(f"{PLANT}{name}", own.default, own.doc, own.unit, own.min, own.max)
        for name, own in kind.declarations.parameters.items()
    )


class Parameters:
    """A node's declared parameters.

    A value given at start that cannot be used does not end the node: reading it raises until a good one is set.
    ``made`` names the transitions that have read their parameters, and whose undoing lets them change again.
    """

    def __init__(self, node: LifecycleNode, made: Callable[[], Mapping[str, str]]) -> None:
        self._node, self._made = node, made
        self._declared: dict[str, Declaration] = {}
        self._refused: dict[str, ParameterError] = {}
        node.add_pre_set_parameters_callback(self._convert)
        node.add_on_set_parameters_callback(self._check)
        node.add_post_set_parameters_callback(self._accept)

    def declare(self, declarations: Iterable[Declaration]) -> None:
        """Declare parameters; those already declared in the same way keep their value."""
        for declaration in declarations:
            name = declaration.name
            if self._declared.get(name) == declaration:
                continue
            if name in self._declared:
                self.undeclare(name)
            # Declared loosely first, only to learn what was given at start: the strict form would raise for it.
            loose = ParameterDescriptor(dynamic_typing=True)
            given = self._node.declare_parameter(name, declaration.default, loose).value
            self._node.undeclare_parameter(name)
            refused = None
            try:
                value = declaration.convert(given)
            except ParameterError as fault:
                refused, value = fault, declaration.default
            self._node.declare_parameter(name, value, declaration.descriptor(), ignore_override=True)
            self._declared[name] = declaration
            if refused is not None:
                self._refused[name] = refused

    def undeclare(self, name: str) -> None:
        """Forget a parameter."""
        self._node.undeclare_parameter(name)
        del self._declared[name]
        self._refused.pop(name, None)

    def keep_only(self, prefix: str, declarations: Sequence[Declaration]) -> None:
        """Undeclare the parameters under the prefix that are not among the declarations."""
        wanted = {declaration.name for declaration in declarations}
        for name in [name for name in self._declared if name.startswith(prefix) and name not in wanted]:
            self.undeclare(name)

    def read(self, declarations: Iterable[Declaration]) -> dict[str, Value]:
        """Read declared parameters: name → value.

        Raises ParameterError for the first whose given value was refused.
        """
        values = {}
        for declaration in declarations:
            if declaration.name in self._refused:
                raise self._refused[declaration.name]
            values[declaration.name] = self._node.get_parameter(declaration.name).value
        return values

    def given(self, prefix: str) -> list[str]:
        """List the names under the prefix that were given at start, declared or not."""
        return [name for name in getattr(self._node, "_parameter_overrides", {}) if name.startswith(prefix)]

    def strangers(self) -> list[str]:
        """List the parameters given at start that nothing declares, each with what may have been meant."""
        names = [name for name in self.given("") if name not in self._declared and not name.startswith(_FOREIGN)]
        return [f"'{name}'{suggestion(name, self._declared)}" for name in names]

    def _convert(self, parameters: list[Parameter]) -> list[Parameter]:
        """Convert what can be; the rest goes on as it is to be refused by ``_check``, which can give a reason."""
        converted = []
        for parameter in parameters:
            declaration = self._declared.get(parameter.name)
            if declaration is not None:
                with suppress(ParameterError):
                    parameter = Parameter(parameter.name, value=declaration.convert(parameter.value))
            converted.append(parameter)
        return converted

    def _check(self, parameters: list[Parameter]) -> SetParametersResult:
        for parameter in parameters:
            declaration = self._declared.get(parameter.name)
            if declaration is None:
                continue
            try:
                value = declaration.convert(parameter.value)
            except ParameterError as fault:
                return SetParametersResult(successful=False, reason=str(fault))
            undo = self._made().get(declaration.read_by)
            if undo and value != self._node.get_parameter(parameter.name).value:
                reason = f"parameter '{parameter.name}' is read by {declaration.read_by}: {undo} the node first"
                return SetParametersResult(successful=False, reason=reason)
        return SetParametersResult(successful=True)

    def _accept(self, parameters: list[Parameter]) -> None:
        for parameter in parameters:
            self._refused.pop(parameter.name, None)
