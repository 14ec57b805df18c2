"""A Python function that is compiled and run once for each thread of a launch."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, NoReturn

from sim_node.errors import BuildError, LaunchError


class Kernel:
    """A kernel: the function as written; nothing is compiled until the first launch or ``sim-node build``.

    Attributes: ``function`` (as written), ``name``, ``module`` (where it was defined), ``entry`` (whatever the runtime
    keeps for the next launch; None until it was loaded).
    """

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.name = function.__name__
        self.module = function.__module__
        self.entry: Any = None
        self.__doc__ = function.__doc__

    def __call__(self, *_: object, **__: object) -> NoReturn:
        """Raise LaunchError: kernels are launched."""
        raise LaunchError(
            f"kernel '{self.name}' was called like a function; a kernel runs on many threads: "
            f"write sn.launch({self.name}, dim=…, inputs=[…], outputs=[…])"
        )

    def __repr__(self) -> str:
        return f"<kernel {self.module}.{self.name}>"


def kernel(function: Callable[..., Any]) -> Kernel:
    """Mark a Python function as a kernel.

    Its parameters carry annotations: a scalar or vector type, or ``sn.array(dtype=…)``. Raises BuildError for anything
    that is not a plain function.
    """
    if not isinstance(function, FunctionType) or function.__name__ == "<lambda>":
        raise BuildError(f"@sn.kernel marks a function, not {function!r}", remedy="put it right above a def")
    return Kernel(function)
