"""Instances of structs on the host: fields by name, in the memory that kernels see."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from sim_node.dtypes import LAYOUTS, ArrayType, Scalar, Struct, pointer
from sim_node.lang.values.numbers import is_number, number
from sim_node.lang.values.value import Value, canonical, memory_of, type_of, viewed


@cache
def memory_type(type_: Struct) -> np.dtype[Any]:
    """The structured numpy dtype of one element, in C layout; an array in it is its descriptor."""
    whole: np.dtype[Any] = np.dtype(type_.numpy_dtype())
    return whole


class StructValue(Value):
    """An instance of a struct. A field that is composite is part of it: assigning a component of that changes it.

    A field that is an array refers to it, and keeps it.
    """

    __slots__ = ("_arrays",)

    _arrays: dict[str, Any]

    @classmethod
    def _made(cls, *_: Any, **__: Any) -> Any:
        return np.zeros((), memory_type(cls._type))

    def __init__(self, *parts: Any, **named: Any) -> None:
        """Make an instance: of fields in order or by name, or a copy of another; those not given are zero.

        Raises TypeError for a field too many or given twice, AttributeError for one that is not there.
        """
        super().__init__()
        object.__setattr__(self, "_arrays", {})
        names = [name for name, _ in self._type.fields]
        if len(parts) == 1 and not named and getattr(parts[0], "_type", None) == self._type:
            self.assign(parts[0])
            return
        if len(parts) > len(names):
            raise TypeError(f"{self._type!r} has {len(names)} fields ({', '.join(names)}), not {len(parts)}")
        twice = [name for name in names[: len(parts)] if name in named]
        if twice:
            raise TypeError(f"{self._type!r}: field '{twice[0]}' is given twice")
        for name, value in {**dict(zip(names, parts)), **named}.items():
            setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name == "_arrays":  # of a view of memory, which keeps none
            object.__setattr__(self, "_arrays", {})
            return self._arrays
        kind = _field(self, name)
        part = self._memory[name]
        if isinstance(kind, Scalar):
            return part[()]
        if isinstance(kind, ArrayType):
            kept = self._arrays.get(name)
            same = kept is not None and part == np.frombuffer(_described(self, name, kind, kept), part.dtype)[0]
            return kept if same else None  # whoever has the memory may have written it since
        value = viewed(kind, part)
        if isinstance(value, StructValue):
            object.__setattr__(value, "_arrays", self._arrays.setdefault(name, {}))
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        kind = _field(self, name)
        if isinstance(kind, Scalar):
            self._memory[name] = number(value, kind)
        elif isinstance(kind, ArrayType):
            there = bytes(kind.size) if value is None else _described(self, name, kind, value)
            self._memory[name] = np.frombuffer(there, self._memory.dtype[name])[0]
            self._arrays[name] = value
        else:
            if is_number(value):
                raise TypeError(f"Struct field '{name}' expects {kind!r} but got a single value, {value!r}")
            if value is None:  # zero, also where a type's own value of nothing is another, as a transform's is
                self._memory[name] = np.zeros((), self._memory.dtype[name])
                self._arrays.pop(name, None)
                return
            given = value if isinstance(value, Value) and type_of(value) == kind else kind(value)
            self._memory[name] = canonical(memory_of(given))
            if isinstance(given, StructValue):
                self._arrays[name] = _copied(given._arrays)

    def assign(self, value: Any) -> None:
        """Take all fields of another instance. Raises TypeError for anything else."""
        if not isinstance(value, StructValue) or value._type != self._type:
            raise TypeError(f"{self._type!r} takes one of its own, not a {type(value).__name__}")
        self._memory[...] = value._memory
        self._arrays.clear()
        self._arrays.update(_copied(value._arrays))

    def numpy_value(self) -> Any:
        """The fields as a record of numpy's, a copy."""
        return self._memory.copy()[()]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, StructValue)
            and other._type == self._type
            and all(getattr(self, name) == getattr(other, name) for name, _ in self._type.fields)
        )

    def __copy__(self) -> StructValue:
        twin: StructValue = viewed(self._type, self._memory.copy())
        object.__setattr__(twin, "_arrays", _copied(self._arrays))
        return twin

    def __reduce__(self) -> tuple[Any, ...]:
        return type_of(self), (), (self._memory.copy(), _copied(self._arrays))

    def __setstate__(self, state: tuple[Any, dict[str, Any]]) -> None:
        self._memory[...] = state[0]
        object.__setattr__(self, "_arrays", state[1])

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name, _ in self._type.fields)]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={_shown(getattr(self, name))}" for name, _ in self._type.fields)
        return f"{self._type!r}({fields})"


def refers(type_: Any) -> bool:
    """Whether values of a type refer to arrays."""
    return isinstance(type_, Struct) and any(leaf.scalar is pointer for leaf in type_.leaves)


def hold(value: StructValue, arrays: dict[str, Any]) -> None:
    """Let a view of memory keep the arrays that its fields refer to in a dict that whoever has the memory keeps."""
    object.__setattr__(value, "_arrays", arrays)


def held(value: StructValue) -> dict[str, Any]:
    """Tell the arrays that a value's fields refer to, as ``hold`` takes them."""
    return _copied(value._arrays)


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, np.generic) else repr(value)


def _described(owner: StructValue, name: str, kind: ArrayType, value: Any) -> bytes:
    """The descriptor of an array that a field refers to."""
    given = (getattr(value, "dtype", None), getattr(value, "ndim", None))
    if not hasattr(value, "descriptor") or given != (kind.dtype, kind.ndim):
        shown = f"one of {given[0]!r} in {given[1]}" if hasattr(value, "descriptor") else f"a {type(value).__name__}"
        raise TypeError(
            f"field '{name}' of {owner._type!r} refers to an array of {kind.dtype!r} in {kind.ndim} "
            f"dimension{'s' * (kind.ndim > 1)}, not to {shown}"
        )
    words: bytes = value.descriptor(LAYOUTS.index(kind.layout))
    return words


def _field(value: StructValue, name: str) -> Any:
    for known, kind in value._type.fields:
        if known == name:
            return kind
    names = ", ".join(known for known, _ in value._type.fields)
    raise AttributeError(f"{value._type!r} has no field '{name}'; it has {names}", name=name, obj=value)


def _copied(arrays: dict[str, Any]) -> dict[str, Any]:
    return {name: _copied(one) if isinstance(one, dict) else one for name, one in arrays.items()}
