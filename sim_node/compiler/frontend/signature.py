"""What the annotations of a kernel or func say: a type for each parameter, none where a func leaves it open."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from sim_node import dtypes
from sim_node.compiler.frontend.scope import Scope
from sim_node.compiler.frontend.source import Source
from sim_node.dtypes import ArrayType, Type
from sim_node.errors import BuildError, BuildTypeError, UnsupportedError

_EXAMPLE = "write a type, such as {0}: float, {0}: sn.vec3 or {0}: sn.array(dtype=float)"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter; ``type`` is None where any type will do."""

    name: str
    type: Type | None


@dataclass(frozen=True, slots=True)
class Signature:
    """Parameters in order, what the author wrote after ``->`` (None: nothing, or Any), and Python's own view."""

    parameters: tuple[Parameter, ...]
    result: Type | None
    python: inspect.Signature


def signature(function: FunctionType, source: Source, scope: Scope, kernel: bool) -> Signature:
    """Read the annotations, those that are text too.

    Raises BuildTypeError naming the parameter that has none or one that is no type, UnsupportedError for forms of
    parameters that kernels or funcs cannot have.
    """
    arguments = source.tree.args
    _refuse_forms(source, arguments, kernel)
    nodes = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    parameters = tuple(
        Parameter(node.arg, _annotated(function, source, scope, node.arg, node, required=kernel)) for node in nodes
    )
    if kernel and function.__annotations__.get("return") not in (None, "None"):
        raise BuildTypeError(
            "a kernel returns nothing", source.location(source.tree.returns or source.tree), "write results into arrays"
        )
    result = None if kernel else _annotated(function, source, scope, "return", source.tree.returns, required=False)
    return Signature(parameters, result, inspect.signature(function))


def _refuse_forms(source: Source, arguments: ast.arguments, kernel: bool) -> None:
    starred = arguments.vararg or arguments.kwarg
    if starred is not None:
        raise UnsupportedError(
            f"'*{starred.arg}' takes any number of arguments", source.location(starred), "name each parameter"
        )
    defaults = [node for node in (*arguments.defaults, *arguments.kw_defaults) if node is not None]
    if kernel and defaults:
        raise UnsupportedError(
            "parameters of a kernel have no defaults", source.location(defaults[0]), "pass the value at each launch"
        )


def _annotated(
    function: FunctionType, source: Source, scope: Scope, name: str, node: ast.AST | None, required: bool
) -> Type | None:
    written = function.__annotations__.get(name, Any)
    while isinstance(written, str):  # text inside text, where annotations are postponed
        written = _evaluate(written, source, scope, name, node)
    if written is None and name == "return":
        return None
    if written is Any or written is None:
        if required:
            raise BuildTypeError(
                f"parameter '{name}' of kernel '{function.__name__}' has no type", _place(source, node),
                _EXAMPLE.format(name),
            )  # fmt: skip
        return None
    kind = annotation(written)
    if isinstance(kind, str):
        raise BuildTypeError(f"parameter '{name}': {kind}", _place(source, node), _EXAMPLE.format(name))
    return kind


def _evaluate(written: str, source: Source, scope: Scope, name: str, node: ast.AST | None) -> object:
    try:
        return eval(written, scope.globals, scope.closure)
    except Exception as error:
        raise BuildError(
            f"the annotation of '{name}', {written!r}, cannot be evaluated: {type(error).__name__}: {error}",
            _place(source, node), "use names of the module, or of the enclosing function where it uses them itself",
        ) from None  # fmt: skip


def _place(source: Source, node: ast.AST | None) -> Any:
    return source.location(node if node is not None else source.tree)


def annotation(written: object) -> Type | str:
    """Resolve what was written as a type; words that say why where it is none."""
    if isinstance(written, ArrayType):
        inside = annotation(written.dtype)
        if isinstance(inside, str):
            return f"an array of what is no dtype: {inside}"
        return written if written.ndim == 1 else f"arrays of {written.ndim} dimensions are not there yet; use 1"
    try:
        return dtypes.element(written)
    except TypeError:
        name = getattr(written, "__name__", repr(written))
        return f"'{name}' is not a type of the kernel language"
