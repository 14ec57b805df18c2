"""Kernels with other annotations than those that were written."""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sim_node.errors import mistakes
from sim_node.lang.definition import annotated, plain, surroundings
from sim_node.lang.kernel import Kernel
from sim_node.lang.module import get_module


@typing.overload
def overload(kernel: Kernel, types: Mapping[str, object] | Sequence[object], /) -> Kernel: ...
@typing.overload
def overload(kernel: Callable[..., Any], /) -> Kernel: ...
def overload(kernel: Any, types: Any = None, /) -> Kernel:
    """Give a kernel with other annotations, ``sn.overload(kernel, {"x": float})``, to launch it as it is.

    Of a def without a body that has the name of a kernel, also as a decorator, ``@sn.overload``, it adds its
    annotations to that kernel, and gives the kernel.
    Raises BuildError where there is no such kernel, BuildTypeError as ``Kernel.overload``.
    """
    if isinstance(kernel, Kernel):
        return kernel.overload(types if types is not None else {})
    stub = plain(kernel, "overload")
    known = surroundings(stub).get(stub.__name__)
    if not isinstance(known, Kernel):  # a def of the module took the kernel's name there
        known = get_module(stub.__module__).kernels.get(stub.__qualname__)
    if not isinstance(known, Kernel):
        raise mistakes.OVERLOAD(
            f"there is no kernel '{stub.__name__}' to overload", remedy="define it above, with @sn.kernel"
        )
    if stub.__annotations__.get("return") not in (None, "None", type(None)):
        raise mistakes.OVERLOAD(f"a kernel returns nothing, and the overload of '{known.name}' says it does")
    known.overload({name: written for name, written in annotated(stub).items() if name != "return"})
    return known
