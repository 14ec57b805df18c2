"""Kernels that leave types open: which types the arguments of a launch give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from sim_node.compiler.frontend import signature
from sim_node.dtypes import ArrayType, Type
from sim_node.errors import mistakes
from sim_node.lang.annotation import matches
from sim_node.lang.hosted import type_of
from sim_node.lang.kernel import Kernel
from sim_node.runtime.cell import Cell
from sim_node.runtime.foreign import adopt, borrows

# Of each kernel that was launched: its open parameters by name, with where each stands and what it may be.
_open: WeakKeyDictionary[Kernel, dict[str, tuple[int, Type]]] = WeakKeyDictionary()


def concrete(kernel: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
    """Give the overload of a kernel that the arguments choose; whatever has no open types is what it is.

    Raises LaunchError where an argument has no type that fits the annotation.
    """
    if not isinstance(kernel, Kernel) or kernel.entry is not None:
        return kernel  # what was built left nothing open
    parameters = _open.get(kernel)
    if parameters is None:
        parameters = _open[kernel] = {
            parameter.name: (at, parameter.type)
            for at, parameter in enumerate(signature(kernel).parameters)
            if parameter.is_open
        }
    if not parameters:
        return kernel
    given = [*inputs, *outputs]
    types = {}
    for name, (at, wanted) in parameters.items():
        if at >= len(given):
            raise mistakes.OPEN_TYPE(f"kernel '{kernel.name}' has no argument for '{name}', whose type is left open")
        kind = _type(given[at])
        if kind is None or not matches(wanted, kind):
            said = "anything of the kernel language" if wanted is Any else str(wanted).replace("typing.Any", "Any")
            what = type(given[at]).__name__ if kind is None else repr(kind)
            raise mistakes.OPEN_TYPE(f"argument '{name}' of kernel '{kernel.name}' is {said}, and {what} was given")
        types[name] = kind
    return kernel.overload(types)


def _type(value: Any) -> Type | None:
    if isinstance(value, Cell):
        return ArrayType(value.element.dtype, len(value.shape))
    kind = type_of(value)
    if kind is not None or not borrows(value):
        return kind
    array, _ = adopt(value)
    return ArrayType(array.dtype, array.ndim)
