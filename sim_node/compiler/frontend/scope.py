"""The names around a function: closure, globals and Python's builtins."""

from __future__ import annotations

import builtins
import difflib
from collections.abc import Iterable
from types import FunctionType
from typing import Any

from sim_node import dtypes

# Python's own functions that kernels may call; calls.py says what they do.
PYTHON: tuple[Any, ...] = (abs, len, max, min, print, range, type)


class Scope:
    """The names around a function."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        code = function.__code__
        self.locals = {*code.co_varnames, *code.co_cellvars}
        self.closure: dict[str, Any] = {}
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                self.closure[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
        self.globals = function.__globals__

    def lookup(self, name: str) -> Any:
        """Find what the name is bound to now; raises KeyError."""
        for names in (self.closure, self.globals, vars(builtins)):
            if name in names:
                return names[name]
        raise KeyError(name)

    def names(self) -> Iterable[str]:
        """Every name that could be meant, for suggestions."""
        python = [thing.__name__ for thing in (*PYTHON, *dtypes.PYTHON)]
        return (*self.locals, *self.closure, *self.globals, *python)


def suggestion(name: str, known: Iterable[str], form: str = "{}") -> str:
    """Say which known name is close to the one that was written."""
    close = difflib.get_close_matches(name, sorted(set(known)), 1)
    return f"did you mean {form.format(close[0])}?" if close else ""
