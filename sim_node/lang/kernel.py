"""A Python function that is compiled and run once for each thread of a launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, Literal, NoReturn, overload

from sim_node.errors import mistakes
from sim_node.lang.definition import annotated, plain
from sim_node.lang.module import Module, get_module
from sim_node.lang.options import FastMath, Options, accept, choose


class Kernel:
    """A kernel: the function as written; nothing is compiled until the first launch or ``sim-node build``.

    Attributes: ``function`` (as written), ``name``, ``module`` (where it was defined), ``options``, ``annotations`` (by
    parameter), ``overloads`` (kernels of this function with other annotations, by those), ``entry`` (whatever the
    runtime keeps for the next launch; None until it was loaded).
    """

    def __init__(
        self,
        func: Callable[..., Any],
        key: str | None = None,
        module: object = None,
        options: Options | Mapping[str, object] | None = None,
        given: Mapping[str, object] | None = None,
    ) -> None:
        """Wrap a function, under the name ``key`` if given, with annotations ``given`` if not its own.

        ``options`` are those of ``kernel``; ``module`` is Warp's and changes nothing.
        """
        del module
        self.function: FunctionType = plain(func, "kernel")
        self.name = key or self.function.__name__
        if not self.name.isidentifier():
            what = f"{self.name!r} is no name of a kernel: it must be a valid C++ identifier, as Python's are"
            raise mistakes.KERNEL_NAME(what, remedy="letters, digits and _, and no digit first")
        self.module: Module = get_module(self.function.__module__ or "__main__")  # text that was compiled has none
        if isinstance(options, Mapping) and options.get("module") == "unique":
            self.module = Module(f"{self.module}.{self.name}", self.module.options)
        self.options = options if isinstance(options, Options) else choose(options or {}, self.module.options)
        self.annotations = dict(annotated(self.function) if given is None else given)
        self.overloads: dict[tuple[object, ...], Kernel] = {}
        self.entry: Any = None
        self.__doc__ = self.function.__doc__
        if given is None and self.function.__qualname__ == self.function.__name__:
            get_module(str(self.function.__module__)).kernels[self.function.__name__] = self

    @property
    def key(self) -> str:
        """The kernel's name, in Warp's word."""
        return self.name

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters, in order."""
        code = self.function.__code__
        return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    def overload(self, types: Mapping[str, object] | Sequence[object]) -> Kernel:
        """Give this kernel with other annotations: a sequence of all, or by the names of those that change.

        The same annotations give the same kernel. Raises BuildTypeError for a name or a number of types that does not
        fit; whether a type suits the parameter is known when the kernel is built.
        """
        if not isinstance(types, Mapping):
            if len(types) != len(self.parameters):
                raise mistakes.OVERLOAD(
                    f"an overload of '{self.name}' has {len(types)} types for {len(self.parameters)} parameters",
                    remedy=f"give one for each of {', '.join(self.parameters)}, or some by name",
                )
            types = dict(zip(self.parameters, types, strict=True))
        for name in types:
            if name not in self.parameters:
                raise mistakes.OVERLOAD(
                    f"kernel '{self.name}' has no parameter '{name}'", remedy=f"name of {', '.join(self.parameters)}"
                )
        given = {**self.annotations, **types}
        key = tuple(given.get(name) for name in self.parameters)
        known = self.overloads.get(key)
        if known is None:
            known = self.overloads[key] = Kernel(self.function, self.name, None, self.options, given)
        return known

    def __call__(self, *_: object, **__: object) -> NoReturn:
        """Raise LaunchError: kernels are launched."""
        raise mistakes.KERNEL_CALLED(
            f"kernel '{self.name}' was called like a function; a kernel runs on many threads: "
            f"write sn.launch({self.name}, dim=…, inputs=[…], outputs=[…])"
        )

    def __repr__(self) -> str:
        return f"<kernel {self.module}.{self.name}>"


@overload
def kernel(function: Callable[..., Any], /) -> Kernel: ...
@overload
def kernel(
    *,
    name: str | None = None,
    deterministic: bool | None = None,
    fast_math: FastMath | None = None,
    guards: Literal["clamp"] | None = None,
    **warp: object,
) -> Callable[[Callable[..., Any]], Kernel]: ...
def kernel(
    function: Callable[..., Any] | None = None, /, *, name: str | None = None, **options: object
) -> Kernel | Callable[[Callable[..., Any]], Kernel]:
    """Mark a Python function as a kernel, as ``@sn.kernel`` or with options, ``@sn.kernel(…)``.

    Its parameters carry annotations: a scalar or vector type, or ``sn.array(dtype=…)``; with ``Any`` among them the
    kernel is compiled once for each tuple of argument types. ``name`` is what errors call it. ``deterministic``,
    ``fast_math`` and ``guards`` are those of ``Options``; what is not given is as ``sn.set_module_options`` has it.
    Options of Warp's that mean nothing here (``WARP``, such as ``module``, ``enable_backward`` and ``launch_bounds``)
    are accepted and change nothing: each kernel is compiled alone, there are no gradients, and the CPU has no blocks.
    Raises BuildError for anything that is not a plain function, and for an option that there is not.
    """
    accept("kernel", options)
    if function is not None:
        return Kernel(function, name, None, options)
    return lambda function: Kernel(function, name, None, options)
