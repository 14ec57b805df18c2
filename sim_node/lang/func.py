"""A Python function that kernels call."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from sim_node.dtypes import Scalar
from sim_node.errors import mistakes
from sim_node.lang.annotation import annotation, evaluated, matches, openness
from sim_node.lang.definition import annotated, plain, surroundings
from sim_node.lang.hosted import type_of
from sim_node.lang.options import accept
from sim_node.lang.values.value import Value, memory_of


class Func:
    """A func: compiled into the kernels that call it, and callable in plain Python.

    Attributes: ``function`` (as written), ``name``, ``module`` (where it was defined), ``annotations`` (by parameter,
    and ``return``), ``overloads`` (the funcs of this name that its caller's arguments choose from, itself the last),
    ``changes`` (the parameters whose new values it gives behind its result), ``fast`` (what takes the place of the last
    overload in kernels with ``fast_math``).
    """

    def __init__(self, function: FunctionType, name: str | None = None, changes: Sequence[str] = ()) -> None:
        self.function = function
        self.name = name or function.__name__
        self.changes = _parameters(function, changes)
        self.module = function.__module__
        self.annotations = annotated(function)
        self.overloads: tuple[Func, ...] = (*_earlier(function), self)
        self.fast: Func | None = None
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Run the function as plain Python; of several overloads the one that the arguments choose.

        Composite values among the arguments that it changes are changed; numbers, which cannot be, stay as they are.
        Raises BuildTypeError where no overload takes them.
        """
        func = self if len(self.overloads) == 1 else self._chosen(args, named)
        returned = func.function(*args, **named)
        if not func.changes:
            return returned
        result, renewed = func.parted(returned)
        given = inspect.signature(func.function).bind(*args, **named).arguments
        for name, value in zip(func.changes, renewed, strict=True):
            if isinstance(given[name], Value):
                memory_of(given[name])[...] = memory_of(value)
        return result

    def parted(self, returned: Any) -> tuple[Any, tuple[Any, ...]]:
        """Split what the function gives into its result, None where there is none, and the new values."""
        values = returned if isinstance(returned, tuple) else (returned,)
        results = len(values) - len(self.changes)
        return values[0] if results else None, values[results:]

    def _chosen(self, args: tuple[Any, ...], named: dict[str, Any]) -> Func:
        """The overload that fits best: types as annotated, then left open, then a Python number that changes its."""
        costs = {func: _cost(func, args, named) for func in reversed(self.overloads)}
        fitting = {func: cost for func, cost in costs.items() if cost is not None}
        if not fitting:
            types = ", ".join(repr(type_of(value)) for value in (*args, *named.values()))
            raise mistakes.ARGUMENTS(f"no overload of '{self.name}' takes ({types})", remedy="convert an argument")
        return min(fitting, key=lambda func: fitting[func])

    def __repr__(self) -> str:
        return f"<func {self.module}.{self.name}>"


def overloaded(*funcs: Func, fast: Func | None = None) -> Func:
    """Make one func of several: its overloads, of which the last decides where a number has no type.

    ``fast`` takes the place of the last in kernels with ``fast_math``.
    """
    func = Func(funcs[-1].function)
    func.overloads, func.fast = funcs, fast
    return func


def _cost(func: Func, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[int, int] | None:
    """What arguments cost a func, as numbers that change their type and as open types; None where they do not fit."""
    try:
        given = inspect.signature(func.function).bind(*args, **named).arguments
    except TypeError:
        return None
    changed = opened = 0
    for name, value in given.items():
        wanted, kind = annotation(evaluated(func.annotations.get(name, Any), func.function)), type_of(value)
        if matches(wanted, kind):
            opened += openness(wanted)
        elif type(value) in (int, float) and isinstance(wanted, Scalar) and _holds(wanted, value):
            changed += 1
        else:
            return None
    return changed, opened


def _holds(scalar: Scalar, value: int | float) -> bool:
    return scalar.is_float or (scalar.is_integer and isinstance(value, int))


def _parameters(function: FunctionType, names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if name not in inspect.signature(function).parameters:
            raise mistakes.OPTION(f"'{function.__name__}' has no parameter '{name}' to change")
    return tuple(names)


def _earlier(function: FunctionType) -> tuple[Func, ...]:
    """The funcs that have the name until now, if they stand above in the same text.

    One that stands at the same line or below is of an earlier run of that text, and is replaced; so is one of another
    text, such as a notebook's cell.
    """
    known, code = surroundings(function).get(function.__name__), function.__code__
    if not isinstance(known, Func) or known.module != function.__module__:
        return ()
    before = known.function.__code__
    above = before.co_filename == code.co_filename and before.co_firstlineno < code.co_firstlineno
    return known.overloads if above else ()


@typing.overload
def func(function: Callable[..., Any], /) -> Func: ...
@typing.overload
def func(
    *, name: str | None = None, changes: Sequence[str] = (), **warp: object
) -> Callable[[Callable[..., Any]], Func]: ...
def func(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    changes: Sequence[str] = (),
    **warp: object,
) -> Func | Callable[[Callable[..., Any]], Func]:
    """Mark a Python function as callable from kernels.

    A parameter without annotation, or annotated ``Any``, takes any type: the func is compiled once for each tuple of
    argument types. Several funcs of one name in one place are overloads: the types of a call's arguments choose.
    Arguments are values. A func that ``changes`` parameters returns their new values behind its result, in their order,
    and a call of it assigns those to the variables that it was given; it has no result where it returns just them.
    Options of Warp's are accepted as ``@sn.kernel`` does. Raises BuildError for anything that is not a plain function.
    """
    accept("func", warp)
    if function is not None:
        return Func(plain(function, "func"), name)
    return lambda function: Func(plain(function, "func"), name, changes)
