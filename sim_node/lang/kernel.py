"""A Python function that is compiled and run once for each thread of a launch."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, NoReturn, overload

from sim_node.errors import LaunchError
from sim_node.lang.func import plain


class Kernel:
    """A kernel: the function as written; nothing is compiled until the first launch or ``sim-node build``.

    Attributes: ``function`` (as written), ``name``, ``module`` (where it was defined), ``entry`` (whatever the runtime
    keeps for the next launch; None until it was loaded).
    """

    def __init__(
        self, func: FunctionType, key: str | None = None, module: object = None, options: object = None
    ) -> None:
        """Wrap a function, under the name ``key`` if given; ``module`` and ``options`` are Warp's, see ``kernel``."""
        del module, options
        self.function = func
        self.name = key or func.__name__
        self.module = func.__module__
        self.entry: Any = None
        self.__doc__ = func.__doc__

    @property
    def key(self) -> str:
        """The kernel's name, in Warp's word."""
        return self.name

    def __call__(self, *_: object, **__: object) -> NoReturn:
        """Raise LaunchError: kernels are launched."""
        raise LaunchError(
            f"kernel '{self.name}' was called like a function; a kernel runs on many threads: "
            f"write sn.launch({self.name}, dim=…, inputs=[…], outputs=[…])"
        )

    def __repr__(self) -> str:
        return f"<kernel {self.module}.{self.name}>"


@overload
def kernel(function: Callable[..., Any]) -> Kernel: ...
@overload
def kernel(
    function: None = None,
    *,
    name: str | None = None,
    module: object = None,
    module_options: object = None,
    enable_backward: object = None,
    launch_bounds: object = None,
    grid_stride: object = None,
) -> Callable[[Callable[..., Any]], Kernel]: ...
def kernel(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    module: object = None,
    module_options: object = None,
    enable_backward: object = None,
    launch_bounds: object = None,
    grid_stride: object = None,
) -> Kernel | Callable[[Callable[..., Any]], Kernel]:
    """Mark a Python function as a kernel, under a name of its own if one is given.

    Its parameters carry annotations: a scalar or vector type, or ``sn.array(dtype=…)``. The other options are Warp's
    for how its modules are compiled and what a GPU launches; they change nothing here, where each kernel is compiled
    alone and has no gradients, and are taken so that a kernel ports as it is.
    Raises BuildError for anything that is not a plain function.
    """
    del module, module_options, enable_backward, launch_bounds, grid_stride
    if function is None:
        return lambda given: Kernel(plain("kernel", given), name)
    return Kernel(plain("kernel", function), name)
