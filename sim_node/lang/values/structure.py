"""Instances of structs on the host: fields by name, in the memory that kernels see."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim_node.dtypes import ArrayType, Scalar
from sim_node.lang.values.numbers import number
from sim_node.lang.values.value import Value, memory_of, type_of, viewed


class StructValue(Value):
    """An instance of a struct. A field that is composite is part of it: assigning a component of that changes it.

    A field that is an array refers to it, and keeps it.
    """

    __slots__ = ("_arrays",)

    _arrays: dict[str, Any]

    def __init__(self, type: Any, memory: Any, arrays: dict[str, Any] | None = None) -> None:
        super().__init__(type, memory)
        object.__setattr__(self, "_arrays", arrays if arrays is not None else {})

    def __getattr__(self, name: str) -> Any:
        kind = _field(self, name)
        part = self._memory[name]
        if isinstance(kind, Scalar):
            return part[()]
        if isinstance(kind, ArrayType):
            return self._arrays.get(name)
        value = viewed(kind, part)
        if isinstance(value, StructValue):
            object.__setattr__(value, "_arrays", self._arrays.setdefault(name, {}))
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        kind = _field(self, name)
        if isinstance(kind, Scalar):
            self._memory[name] = number(value, kind)
        elif isinstance(kind, ArrayType):
            self._memory[name] = kind.descriptor(value) if value is not None else 0
            self._arrays[name] = value
        else:
            given = value if isinstance(value, Value) and type_of(value) == kind else kind(value)
            self._memory[name] = memory_of(given)
            if isinstance(given, StructValue):
                self._arrays[name] = _copied(given._arrays)

    def assign(self, value: Any) -> None:
        """Take all fields of another instance. Raises TypeError for anything else."""
        if not isinstance(value, StructValue) or value._type != self._type:
            raise TypeError(f"{self._type!r} takes one of its own, not a {type(value).__name__}")
        self._memory[...] = value._memory
        object.__setattr__(self, "_arrays", _copied(value._arrays))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, StructValue)
            and other._type == self._type
            and all(getattr(self, name) == getattr(other, name) for name, _ in self._type.fields)
        )

    def __copy__(self) -> StructValue:
        return StructValue(self._type, self._memory.copy(), _copied(self._arrays))

    def __reduce__(self) -> tuple[Any, ...]:
        return StructValue, (self._type, self._memory.copy(), _copied(self._arrays))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name, _ in self._type.fields)]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name, _ in self._type.fields)
        return f"{self._type!r}({fields})"


def _field(value: StructValue, name: str) -> Any:
    for known, kind in value._type.fields:
        if known == name:
            return kind
    names = ", ".join(known for known, _ in value._type.fields)
    raise AttributeError(f"{value._type!r} has no field '{name}'; it has {names}", name=name, obj=value)


def _copied(arrays: dict[str, Any]) -> dict[str, Any]:
    return {name: _copied(one) if isinstance(one, dict) else one for name, one in arrays.items()}


def make(type: Any, *parts: Any, **named: Any) -> StructValue:
    """Make an instance: fields in order or by name; those not given are zero."""
    names = [name for name, _ in type.fields]
    made = StructValue(type, np.zeros((), type.numpy))
    if len(parts) == 1 and isinstance(parts[0], StructValue) and not named:
        made.assign(parts[0])
        return made
    if len(parts) > len(names):
        raise TypeError(f"{type!r} has {len(names)} fields ({', '.join(names)}), not {len(parts)}")
    twice = [name for name in names[: len(parts)] if name in named]
    if twice:
        raise TypeError(f"{type!r}: field '{twice[0]}' is given twice")
    for name, value in {**dict(zip(names, parts)), **named}.items():
        setattr(made, name, value)
    return made

