"""What a decorator of the language is put on: the plain function, the names around it, and what its annotations say."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import FunctionType, UnionType
from typing import Any, Union, get_origin

from sim_node.errors import mistakes


def plain(marked: object, mark: str) -> FunctionType:
    """Give the function that was marked, also from under ``staticmethod``; raises BuildError for anything else."""
    function = marked.__func__ if isinstance(marked, staticmethod) else marked
    if not isinstance(function, FunctionType) or function.__name__ == "<lambda>":
        raise mistakes.MARKED(f"@sn.{mark} marks a function, not {marked!r}", remedy="put it right above a def")
    return function


def surroundings(function: FunctionType) -> Mapping[str, Any]:
    """The names where a function is being defined now: of its module, its class or the function that makes it.

    They are those of the nearest caller in the function's own module.
    """
    caller = sys._getframe(1)
    while caller.f_globals is not function.__globals__:
        if caller.f_back is None:
            return function.__globals__
        caller = caller.f_back
    return caller.f_locals


def annotated(function: FunctionType) -> dict[str, object]:
    """What stands beside the parameters of a function that is being defined now, and after its ``->`` (``return``).

    Text that names what only the enclosing function or class knows is evaluated now, while those names can be found;
    all other text stays text, so that it may name what the module defines later.
    """
    written = dict(function.__annotations__)
    for name, one in written.items():
        if get_origin(one) in (Union, UnionType):
            what = (
                f"Union type annotations are only supported at Python scope, and '{name}' of '{function.__name__}' is"
            )
            raise mistakes.PARAMETER_TYPE(f"{what} {one}", remedy="write an overload for each type")
    if function.__qualname__ != function.__name__ and any(isinstance(text, str) for text in written.values()):
        names = surroundings(function)
        for name, text in written.items():
            if isinstance(text, str):
                try:
                    written[name] = eval(text, function.__globals__, dict(names))
                except Exception:  # whoever needs it evaluates it again, and says where it fails
                    continue
    return written
