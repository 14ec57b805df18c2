"""A Python function that kernels call."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, overload

from sim_node.errors import BuildError


class Func:
    """A func: compiled into the kernels that call it, and callable in plain Python.

    Attributes: ``function`` (as written), ``name``, ``module`` (where it was defined).
    """

    def __init__(self, function: FunctionType, name: str | None = None) -> None:
        self.function = function
        self.name = name or function.__name__
        self.module = function.__module__
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Run the function as plain Python."""
        return self.function(*args, **named)

    def __repr__(self) -> str:
        return f"<func {self.module}.{self.name}>"


def plain(mark: str, function: object) -> FunctionType:
    """Take a function that a mark stands above; raises BuildError for anything else."""
    if not isinstance(function, FunctionType) or function.__name__ == "<lambda>":
        raise BuildError(f"@sn.{mark} marks a function, not {function!r}", remedy="put it right above a def")
    return function


@overload
def func(function: Callable[..., Any]) -> Func: ...
@overload
def func(
    function: None = None, *, name: str | None = None, module: object = None, inline: object = None
) -> Callable[[Callable[..., Any]], Func]: ...
def func(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    module: object = None,
    inline: object = None,
) -> Func | Callable[[Callable[..., Any]], Func]:
    """Mark a Python function as callable from kernels, under a name of its own if one is given.

    A parameter without annotation, or annotated ``Any``, takes any type: the func is compiled once for each tuple of
    argument types. ``module`` and ``inline`` are Warp's and change nothing: every func is inlined.
    Raises BuildError for anything that is not a plain function.
    """
    del module, inline
    if function is None:
        return lambda given: Func(plain("func", given), name)
    return Func(plain("func", function), name)
