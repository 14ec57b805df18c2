"""What the annotations of a kernel or func say: a type for each parameter, or one that is left open to the caller."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sim_node.compiler.frontend.source import Source, source
from sim_node.dtypes import Type
from sim_node.errors import mistakes
from sim_node.lang.annotation import annotation, evaluated, is_open
from sim_node.lang.func import Func
from sim_node.lang.kernel import Kernel

_EXAMPLE = "write a type, such as {0}: float, {0}: sn.vec3 or {0}: sn.array(dtype=float)"
_NOTHING = (None, type(None))


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter and its type, parts of which may be ``Any``; ``Any`` itself stands for what is no value, too."""

    name: str
    type: Type

    @property
    def is_open(self) -> bool:
        """Whether the caller's argument decides on the type."""
        return is_open(self.type)


@dataclass(frozen=True, slots=True)
class Signature:
    """Parameters in order, what the author wrote after ``->`` (None: nothing, or left open), and Python's own view."""

    parameters: tuple[Parameter, ...]
    result: Type | None
    python: inspect.Signature

    def __str__(self) -> str:
        return ", ".join(
            one.name if one.type is Any else f"{one.name}: {str(one.type).replace('typing.Any', 'Any')}"
            for one in self.parameters
        )


def signature(definition: Kernel | Func) -> Signature:
    """Read the annotations, those that are text too.

    Raises BuildTypeError naming the parameter that has none or one that is no type, UnsupportedError for forms of
    parameters that kernels or funcs cannot have.
    """
    read, is_kernel = source(definition.function), isinstance(definition, Kernel)
    arguments = read.tree.args
    _refuse_forms(read, arguments, is_kernel)
    reader = _Reader(definition, read, definition.annotations)
    nodes = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    parameters = tuple(Parameter(node.arg, reader.parameter(node, required=is_kernel)) for node in nodes)
    result = reader.result()
    if is_kernel and result is not None:
        raise mistakes.KERNEL_RETURNS(
            "a kernel returns nothing", read.location(read.tree.returns or read.tree), "write results into arrays"
        )
    return Signature(parameters, None if is_open(result) else result, inspect.signature(definition.function))


def _refuse_forms(source: Source, arguments: ast.arguments, kernel: bool) -> None:
    starred = arguments.vararg or arguments.kwarg
    if starred is not None:
        raise mistakes.PARAMETERS(
            f"'*{starred.arg}' takes any number of arguments", source.location(starred), "name each parameter"
        )
    defaults = [node for node in (*arguments.defaults, *arguments.kw_defaults) if node is not None]
    if kernel and defaults:
        raise mistakes.PARAMETERS(
            "parameters of a kernel have no defaults", source.location(defaults[0]), "pass the value at each launch"
        )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads annotations of one function."""

    definition: Kernel | Func
    source: Source
    written: Mapping[str, object]

    def parameter(self, node: ast.arg, required: bool) -> Type:
        """The type of a parameter, open where a func says nothing."""
        written = self._evaluated(node.arg, node)
        if written is not None:
            return self._resolved(written, node.arg, node)
        if required:
            raise mistakes.PARAMETER_TYPE(
                f"parameter '{node.arg}' of kernel '{self.definition.name}' has no type", self.source.location(node),
                _EXAMPLE.format(node.arg),
            )  # fmt: skip
        return Any  # type: ignore[return-value]

    def result(self) -> Type | None:
        """What stands after ``->``."""
        node = self.source.tree.returns or self.source.tree
        written = self._evaluated("return", node)
        return None if written in _NOTHING else self._resolved(written, "return", node)

    def _evaluated(self, name: str, node: ast.AST) -> object:
        written = self.written.get(name)
        try:
            return evaluated(written, self.definition.function)
        except Exception as error:
            raise mistakes.PARAMETER_TYPE(
                f"the annotation of '{name}', {written!r}, cannot be evaluated: {type(error).__name__}: {error}",
                self.source.location(node),
                "use names of the module, or of the function or class around it",
            ) from None

    def _resolved(self, written: object, name: str, node: ast.AST) -> Type:
        kind = annotation(written)
        if isinstance(kind, str):
            what = f"parameter '{name}'" if name != "return" else "the result"
            raise mistakes.PARAMETER_TYPE(f"{what}: {kind}", self.source.location(node), _EXAMPLE.format(name))
        return kind
