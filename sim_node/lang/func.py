"""A Python function that kernels call."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from sim_node.errors import BuildError


class Func:
    """A func: compiled into the kernels that call it, and callable in plain Python.

    Attributes: ``function`` (as written), ``name``, ``module`` (where it was defined).
    """

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.name = function.__name__
        self.module = function.__module__
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Run the function as plain Python."""
        return self.function(*args, **named)

    def __repr__(self) -> str:
        return f"<func {self.module}.{self.name}>"


def func(function: Callable[..., Any]) -> Func:
    """Mark a Python function as callable from kernels.

    A parameter without annotation, or annotated ``Any``, takes any type: the func is compiled once for each tuple of
    argument types. Raises BuildError for anything that is not a plain function.
    """
    if not isinstance(function, FunctionType) or function.__name__ == "<lambda>":
        raise BuildError(f"@sn.func marks a function, not {function!r}", remedy="put it right above a def")
    return Func(function)
