"""The Python modules that kernels stand in, by name, and what each asks of the compiler for its kernels."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sim_node.errors import mistakes
from sim_node.lang.options import DEFAULTS, WARP

if TYPE_CHECKING:
    from sim_node.lang.kernel import Kernel


class Module:
    """A Python module that kernels stand in.

    Attributes: ``name``, ``options`` (see ``set_module_options``), ``kernels`` (those of the module itself, not of
    functions or classes in it, by name).
    """

    def __init__(self, name: str, options: Mapping[str, object] = DEFAULTS) -> None:
        self.name = name
        self.options: dict[str, object] = dict(options)
        self.kernels: dict[str, Kernel] = {}

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<module of kernels {self.name}>"


_MODULES: dict[str, Module] = {}


def get_module(name: str) -> Module:
    """Look up a module of kernels by the name that Python has for it, the same one each time."""
    return _MODULES.setdefault(name, Module(name))


def modules() -> list[Module]:
    """List the modules that kernels stand in, and those that were asked for."""
    return list(_MODULES.values())


def _here() -> Module:
    return get_module(sys._getframe(2).f_globals.get("__name__", "__main__"))


def set_module_options(options: Mapping[str, object], module: Module | None = None) -> None:
    """Set what the kernels that a module defines from here on have where they say nothing; the caller's by default.

    Options are those of ``sn.kernel``; Warp's that mean nothing here are kept and change nothing.
    Raises BuildTypeError for an option that there is not.
    """
    for name in options:
        if name not in DEFAULTS and name not in WARP:
            raise mistakes.OPTION(f"modules have no option '{name}'", remedy=f"one of {', '.join(sorted(DEFAULTS))}")
    (module or _here()).options.update(options)


def get_module_options(module: Module | None = None) -> dict[str, object]:
    """Read the options of a module of kernels; the caller's by default."""
    return dict((module or _here()).options)
