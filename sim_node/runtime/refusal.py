"""Refusals of C, said in words: which argument, what was expected, what came, and what to do."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from sim_node import _native
from sim_node.device.names import DEFAULT, Device
from sim_node.dtypes import ArrayType, Kind, Struct
from sim_node.errors import LaunchError, mistakes
from sim_node.errors.mistakes import Mistake
from sim_node.runtime.array import Array
from sim_node.runtime.element import STRUCT, native
from sim_node.runtime.indexed import IndexedArray
from sim_node.runtime.program import Entry

# reason → the mistake, what is wrong, and what to write instead
_ARGUMENT = {
    "dtype": (mistakes.ARGUMENT_TYPE, "its dtype differs", "convert it once, with sn.array({name}, dtype='{dtype}')"),
    "shape": (mistakes.ARGUMENT_TYPE, "its shape does not fit", "pass one whose numpy shape is {shape}"),
    "layout": (
        mistakes.ARGUMENT_MEMORY,
        "its elements are not contiguous in C order",
        "copy it once, with sn.array({name})",
    ),
    "components": (
        mistakes.ARGUMENT_MEMORY,
        "the components of its elements do not follow each other",
        "copy it once, with sn.array({name}, dtype='{dtype}')",
    ),
    "device": (
        mistakes.ARGUMENT_DEVICE,
        "it is in the memory of another device than the launch",
        "pass {name}.to(device), which copies",
    ),
    "alignment": (
        mistakes.ARGUMENT_MEMORY,
        "its address is not a multiple of its scalar's size",
        "copy it once, with sn.array({name})",
    ),
    "readonly": (
        mistakes.READ_ONLY,
        "the kernel writes it, and it is read-only",
        "pass an array that may be written",
    ),
    "extent": (
        mistakes.ARGUMENT_MEMORY,
        "a thread's index is i32 and cannot reach all of it",
        "split it into parts below 2**31 elements",
    ),
    "cell": (
        mistakes.ARGUMENT_MEMORY,
        "a cell has an address only inside a plan",
        "pass an array, or record the launch with Plan.launch",
    ),
}
_VALUE = {
    "dtype": (mistakes.ARGUMENT_TYPE, "its type differs", "make a {dtype} of it"),
    "readonly": (
        mistakes.READ_ONLY,
        "the kernel writes its arrays, and one is read-only",
        "give it an array that may be written",
    ),
    "range": (
        mistakes.ARGUMENT_VALUE,
        "the value is out of range",
        "pass a value that {dtype} holds, or widen the kernel's parameter",
    ),
    "length": (mistakes.ARGUMENT_TYPE, "the number of its parts differs", "pass {length} of them"),
}
# reason → what is wrong with the launch or plan as a whole
_WHOLE = {
    "dim": (
        mistakes.DIM,
        "dim is an int from 0 to 2147483647, or one to four of them with a product below 2**63, not {dim!r}",
    ),
    "coordinates": (
        mistakes.DIM,
        "its tid() gives {dims} coordinate{s}, and dim={dim!r} has {count}; write dim={example}",
    ),
    "count": (
        mistakes.ARGUMENT_COUNT,
        "it takes {wanted} arguments ({names}), got {given}: {inputs} in inputs and {outputs} in outputs",
    ),
    "sequence": (
        mistakes.ARGUMENT_COUNT,
        "inputs and outputs are lists or tuples, not {inputs_type} and {outputs_type}",
    ),
    "frozen": (mistakes.PLAN, "the plan is frozen and takes no more launches; record them before Plan.freeze()"),
}
_PLAN = {
    "unfrozen": "the plan is still being recorded; call Plan.freeze() once before it runs",
    "running": "the plan is being run by another thread; one plan runs in one thread at a time",
    "unpointed": "cell {at} of the plan has no address; call Plan.point(cell, array) for each of its cells",
    "unknown": "the plan has no such cell; a cell belongs to the plans whose launches take it",
}
# kind → what Python value a parameter takes, and how to make one
_NUMBER = {Kind.BOOL: "bool", Kind.INT: "int", Kind.UINT: "int", Kind.FLOAT: "float"}


def launch_error(refusal: _native.Refusal, entry: Any, dim: object, inputs: Any, outputs: Any) -> LaunchError:
    """Say why a launch's arguments were refused."""
    program = cast(Entry, entry).program
    at, reason = refusal.args
    if reason in _WHOLE:
        names = ", ".join(name for name, _ in program.params) or "none"
        sizes = [len(part) if isinstance(part, (list, tuple)) else 0 for part in (inputs, outputs)]
        mistake, text = _WHOLE[reason]
        text = text.format(
            dim=dim, wanted=len(program.params), names=names, given=at, inputs=sizes[0], outputs=sizes[1],
            inputs_type=type(inputs).__name__, outputs_type=type(outputs).__name__,
            dims=entry.dims, s="s" if entry.dims > 1 else "", example=_grid(entry.dims),
            count=len(dim) if isinstance(dim, (tuple, list)) else 1,
        )  # fmt: skip
        return mistake(f"kernel '{program.name}': {text}")
    name, type_ = program.params[at]
    value = [*inputs, *outputs][at]
    return argument_error(program.name, reason, name, type_, value, entry.device)


def argument_error(kernel: str, reason: str, name: str, type_: Any, value: object, device: Device) -> LaunchError:
    """Say why one argument of a launch on a device was refused."""
    mistake, text = _fault(reason, name, type_, value, device)
    return mistake(f"kernel '{kernel}': argument '{name}'{text}")


def _grid(dims: int) -> str:
    """An example of a dim with so many extents."""
    return f"({', '.join('nmkl'[:dims])})" if dims > 1 else "n"


def plan_error(refusal: _native.Refusal, cells: tuple[_native.Cell, ...], value: object = None) -> LaunchError:
    """Say why a plan cannot run, or why an array cannot stand in a cell."""
    at, reason = refusal.args
    if reason in _PLAN:
        return mistakes.PLAN(_PLAN[reason].format(at=at))
    cell = cells[at]
    type_ = ArrayType(cell.element.dtype, len(cell.shape))
    mistake, text = _fault(reason, "array", type_, value)
    return mistake(f"cell {at} of shape {cell.shape}{text}")


def _fault(
    reason: str, name: str, type_: Any, value: object, device: Device = DEFAULT
) -> tuple[Mistake[LaunchError], str]:
    is_array = isinstance(type_, ArrayType)
    element = native(type_.dtype if is_array else type_)
    field = None if is_array or element.code != STRUCT else _field(type_, value, device)
    if field is not None:
        mistake, text = _fault(*field, device)
        return mistake, f", field '{field[1]}'{text}"
    table = _ARGUMENT if is_array else _VALUE
    mistake, why, remedy = table.get(reason) or (mistakes.ARGUMENT_TYPE, "", _make(type_, element))
    because = f": {why}" if why else ""
    instead = remedy.format(name=name, dtype=repr(element.dtype), length=_count(element), shape=_shape(type_, element))
    got = "a single value, " * (bool(element.axes) and isinstance(value, (int, float, np.generic))) + _described(value)
    return mistake, f" expects {type_!r} but got {got}{because}\n  instead: {instead}"


def _field(struct: Any, value: Any, device: Device) -> tuple[str, str, Any, object] | None:
    """The first field of an instance or a tuple that does not fit: the reason, its name, type and value."""
    is_tuple = isinstance(value, tuple) and len(value) == len(struct.fields)
    if not is_tuple and getattr(value, "_type", None) != struct:
        return None
    for at, (name, type_) in enumerate(struct.fields):
        given = value[at] if is_tuple else getattr(value, name, None)
        try:
            native(Struct("", ((name, type_),))).pack((given,), device if device.is_cuda else None)
        except _native.Refusal as refusal:
            return refusal.args[1], name, type_, given
    return None


def _count(element: _native.Element) -> int:
    """The parts that a sequence for one element has: components, or fields."""
    return len(element.dtype.fields) if element.code == STRUCT else math.prod(element.axes)


def _make(type_: Any, element: _native.Element) -> str:
    """How to make a value of another kind fit."""
    if isinstance(type_, ArrayType):
        return "make an array of it once, with sn.array({name}, dtype='{dtype}')"
    if element.code == STRUCT:
        return "pass one, such as {dtype}(), or a tuple of all of its fields"
    if element.axes:
        return "pass a tuple, list or numpy array of {length} numbers, or sn.{dtype}(…)"
    return f"convert it, with {_NUMBER[type_.kind]}({{name}})"


def _shape(type_: Any, element: _native.Element) -> str:
    """The numpy shape of an array parameter, with letters for free extents."""
    if not isinstance(type_, ArrayType):
        return "()"
    extents = [*"nmkl"[: type_.ndim], *map(str, element.axes)]
    return f"({', '.join(extents)}{',' if len(extents) == 1 else ''})"


def _described(value: object) -> str:
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"a numpy array of {value.dtype} and shape {value.shape}"
    if isinstance(value, (Array, IndexedArray)):
        return f"an {ArrayType(value.dtype, value.ndim)!r} of shape {value.shape}"
    if isinstance(value, _native.Cell):
        return f"a cell of {value.element.dtype!r} and shape {value.shape}"
    shown = repr(value)
    return f"{type(value).__name__} {shown if len(shown) <= 60 else shown[:57] + '...'}"
