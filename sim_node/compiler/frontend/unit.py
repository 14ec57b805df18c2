"""The module being lowered: its kernel, and each func once for each tuple of argument types."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from sim_node.compiler.frontend.body import Body, Form, Instance, Visit
from sim_node.compiler.frontend.operand import Operand, Static
from sim_node.compiler.frontend.results import finish, leaves
from sim_node.compiler.frontend.scope import Scope
from sim_node.compiler.frontend.signature import Signature, signature
from sim_node.compiler.frontend.source import source
from sim_node.compiler.frontend.ssa import Missing, Unsettled
from sim_node.compiler.frontend.variables import begin
from sim_node.compiler.ir.function import Function, Module, Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import ArrayType, Type
from sim_node.errors import BuildError, Location, mistakes
from sim_node.lang.func import Func
from sim_node.lang.kernel import Kernel

_DEEPEST = 8  # calls of a func inside of itself, each for other types


class Unit:
    """What was lowered so far."""

    def __init__(self, visitors: dict[type[ast.AST], Visit]) -> None:
        self.visitors = visitors
        self.deterministic = True
        self._names: set[str] = set()
        self._functions: dict[str, Function] = {}
        self._instances: dict[tuple[Func, object], Instance] = {}
        self._signatures: dict[Func, Signature] = {}
        self._active: list[tuple[Func, object]] = []
        self.fast = False  # whether funcs give way to their fast forms
        self.bodies: dict[str, Body] = {}  # by the name of the function in the module

    def lower(self, kernel: Kernel, layouts: Mapping[str, str]) -> Module:
        """Lower the kernel and all that it calls; ``layouts`` are of its array parameters that are not contiguous."""
        self.fast = bool(kernel.options.fast_math)
        self.deterministic = kernel.options.deterministic
        body = Body(self, source(kernel.function), Scope(kernel.function), kernel=True)
        form = signature(kernel)
        for parameter in form.parameters:
            if parameter.is_open:
                what = f"parameter '{parameter.name}' of kernel '{kernel.name}' is left open"
                types = f'{{"{parameter.name}": …}}'
                remedy = f"launch it with arguments, or say which types: sn.overload({kernel.name}, {types})"
                raise body.error(mistakes.PARAMETER_TYPE, what, body.source.tree, remedy)
        self._names.add(kernel.name)
        given = tuple(laid(one.type, layouts.get(one.name)) for one in form.parameters)
        entry, _ = self._lower(body, kernel.name, form, given)
        return Module(kernel.name, {kernel.name: entry, **self._functions})

    def signature(self, func: Func) -> Signature:
        """Give a func's parameters."""
        known = self._signatures.get(func)
        if known is None:
            known = self._signatures[func] = signature(func)
        return known

    def instantiate(self, func: Func, given: tuple[Form, ...], caller: Location) -> Instance:
        """Lower a func for types of arguments and things known at build, unless that was done before.

        It may call itself for other types, as one of matrices does for their rows.
        Raises UnsupportedError for recursion.
        """
        key = func, _identity(given)
        known = self._instances.get(key)
        if known is not None:
            return known
        around = [at for at, (one, _) in enumerate(self._active) if one is func]
        if key in self._active or len(around) == _DEEPEST:
            circle = " → ".join(one.name for one, _ in (*self._active[around[0] :], key))
            raise mistakes.RECURSION(f"'{func.name}' calls itself: {circle}", caller, "write a loop")
        body = Body(self, source(func.function), Scope(func.function), kernel=False, caller=caller)
        self._active.append(key)
        name = self._unused(func.name)
        function, result = self._lower(body, name, self.signature(func), given)
        self._active.pop()
        self._functions[name] = function
        instance = self._instances[key] = Instance(name, result)
        return instance

    def _unused(self, name: str) -> str:
        unused, count = name, 1
        while unused in self._names:
            count += 1
            unused = f"{name}.{count}"
        self._names.add(unused)
        return unused

    def _lower(self, body: Body, name: str, form: Signature, given: tuple[Form, ...]) -> tuple[Function, Form | None]:
        tree = body.source.tree
        if isinstance(tree, ast.AsyncFunctionDef):
            raise body.error(mistakes.NOT_IN_LANGUAGE, "an async function cannot be compiled", tree, "write def")
        self.bodies[name] = body
        names, params = list[str](), list[Value]()

        def received(parameter: str, one: Form) -> Operand:
            if isinstance(one, tuple):
                return tuple(received(f"{parameter}[{at}]", part) for at, part in enumerate(one))
            if isinstance(one, Static):
                return one
            names.append(parameter)
            params.append(Value(Op.PARAM, one, (), len(params)))
            return params[-1]

        for parameter, one in zip(form.parameters, given, strict=True):
            begin(body, parameter.name, received(parameter.name, one), tree)
        body.visit_all(tree.body)
        result = body.result = finish(body, form.result)
        blocks, missing = body.builder.finish()
        if missing is not None:
            raise _unassigned(body, missing)
        results = tuple(leaves(result)) if result is not None else ()
        return Function(name, tuple(params), tuple(names), results, blocks, tuple(body.sites), body.dims), result


def _identity(given: object) -> object:
    """What tells arguments of a func apart."""
    if isinstance(given, tuple):
        return tuple(_identity(one) for one in given)
    return id(given.value) if isinstance(given, Static) else given


def _unassigned(body: Body, missing: Missing | Unsettled) -> BuildError:
    name = str(missing.variable)
    if isinstance(missing, Unsettled):
        return body.error(
            mistakes.DEPENDS_ON_PATH,
            f"what '{name}' stands for here depends on the path, and is needed at build",
            missing.mark,
            "call it in each branch, or choose by a condition that is known at build",
        )
    path = missing.path or "on some path"
    return body.error(
        mistakes.UNASSIGNED, f"'{name}' may be unassigned here: nothing is assigned to it {path}", missing.mark,
        f"assign {name} before, so that every path has it",
    )  # fmt: skip


def laid(kind: Type, layout: str | None) -> Type:
    """An array's type in another layout."""
    return replace(kind, layout=layout) if layout is not None and isinstance(kind, ArrayType) else kind
