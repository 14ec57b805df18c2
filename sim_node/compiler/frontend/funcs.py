"""Calls of funcs: which of the overloads, its arguments bound as Python does, and what each gives its parameter."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sim_node.compiler.frontend.agree import Written, sources_of, text
from sim_node.compiler.frontend.body import Body, Form, Instance, Renewed, describe
from sim_node.compiler.frontend.capture import capture
from sim_node.compiler.frontend.operand import Literal, Operand, Static, Weak, default_type, outcomes, unfit
from sim_node.compiler.frontend.results import carried, taken
from sim_node.compiler.frontend.signature import Parameter, Signature
from sim_node.compiler.frontend.variables import assign
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import ArrayType, Composite, Scalar, Type, float32
from sim_node.errors import BuildError, BuildTypeError, mistakes
from sim_node.lang.annotation import matches, openness
from sim_node.lang.func import Func
from sim_node.lang.kinds import Kinds

# An argument as a func takes it.
Passed = Value | Static | tuple["Passed", ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """A func, and the argument of each of its parameters."""

    func: Func
    form: Signature
    given: tuple[Written, ...]

    @property
    def pairs(self) -> list[tuple[Operand, ast.AST, Parameter]]:
        """Each argument with where it stands and its parameter."""
        return [(operand, at, one) for (operand, at), one in zip(self.given, self.form.parameters, strict=True)]


def call_func(body: Body, func: Func, arguments: list[Written], named: dict[str, Written], node: ast.Call) -> Operand:
    """Lower a call of a func: bind the arguments as Python does, adapt literals, refuse other types."""
    if len(func.overloads) > 1:
        bound = _chosen(body, func, arguments, named, node)
    else:
        bound = _bound(body, func, arguments, named, node)
    if func.fast is not None and body.unit.fast and bound.func is func.overloads[-1]:
        bound = replace(bound, func=func.fast)
    pairs = bound.pairs
    left_open = [operand for operand, _, parameter in pairs if parameter.is_open]
    values = tuple(
        _fitted(body, operand, parameter.type, left_open, at, f"'{parameter.name}' of '{func.name}'")
        for operand, at, parameter in pairs
    )
    instance, result = _invoke(body, bound.func, values, node)
    body.called.setdefault(node, []).append(instance.name)
    return _renewed(body, bound, result, node) if bound.func.changes else result


def _renewed(body: Body, bound: Bound, returned: Operand, node: ast.Call) -> Operand:
    """Assign what a func changes to the variables that it was given, and give its result."""
    result, values = bound.func.parted(returned)
    places = {parameter.name: at for _, at, parameter in bound.pairs}
    names: list[str | None] = []
    for name, value in zip(bound.func.changes, values, strict=True):
        place = places[name]
        variable = place.id if isinstance(place, ast.Name) and place.id in body.scope.locals else None
        if variable is not None:
            assign(body, variable, value, place, place)
        names.append(variable)
    body.renewed[node] = Renewed(result is not None, tuple(names))
    return Value(Op.CALL, None) if result is None else result


def _fitted(body: Body, operand: Operand, wanted: Any, left_open: list[Operand], node: ast.AST, role: str) -> Passed:
    """Give an argument as its parameter takes it; a tuple part by part."""
    if isinstance(operand, tuple) and (wanted is Any or isinstance(wanted, tuple)):
        wanted = _each(wanted, len(operand))
        if len(wanted) != len(operand):
            raise body.error(
                mistakes.ARGUMENTS, f"{role} is a tuple of {len(wanted)}, and {len(operand)} are given", node,
                "give as many",
            )  # fmt: skip
        sources = sources_of(node, len(operand))
        return tuple(
            _fitted(body, part, one, left_open, at, role)
            for part, one, at in zip(operand, wanted, sources, strict=True)
        )
    if isinstance(operand, Static) and wanted is Any:
        return operand
    if isinstance(wanted, tuple):
        raise body.error(mistakes.ARGUMENTS, f"{role} is a tuple, and '{text(node)}' is {describe(operand)}", node)
    if isinstance(operand, Value) and operand.type is not None and matches(wanted, operand.type):
        return operand
    if wanted is Any:
        wanted = _type_for(body, operand, left_open, node)
    elif isinstance(wanted, Kinds):
        wanted = _of_kind(body, wanted, operand, left_open, role, node)
    return body.convert(operand, wanted, node, role)


def _of_kind(body: Body, kind: Kinds, operand: Operand, left_open: list[Operand], role: str, node: ast.AST) -> Type:
    """The type that an argument gives to a parameter of any scalar of some kind; an integer literal may be a float."""
    given = _type_for(body, operand, left_open, node)
    if not kind.takes(given) and isinstance(operand, Weak) and default_type(operand).is_integer:
        given = float32
    if not kind.takes(given):
        raise body.error(
            mistakes.ARGUMENTS, f"{role} takes any {kind!r}, and gets {given!r}", node, "convert the argument"
        )
    return given


def _each(wanted: Any, length: int) -> tuple[Any, ...]:
    """What an annotation says of each part of a tuple: the same of all where it says so, or nothing."""
    if isinstance(wanted, tuple):
        return (wanted[0],) * length if wanted[1:] == (...,) else wanted
    return (wanted,) * length


def _invoke(body: Body, func: Func, values: tuple[Passed, ...], node: ast.AST) -> tuple[Instance, Operand]:
    """Call a func with values that fit its parameters; what exists only at build becomes part of the func."""
    instance = body.unit.instantiate(func, tuple(map(_form, values)), body.source.location(node, body.caller))
    call = body.emit(Op.CALL, carried(instance.result), tuple(_passed(values)), node, instance.name)
    return instance, call if instance.result is None else taken(body, instance.result, call, node)


def invoke_value(body: Body, func: Func, values: tuple[Value, ...], node: ast.AST) -> Value:
    """Call a func of the library that gives one value."""
    _, result = _invoke(body, func, values, node)
    assert isinstance(result, Value)
    return result


def _form(passed: Passed) -> Form:
    if isinstance(passed, tuple):
        return tuple(map(_form, passed))
    return passed if isinstance(passed, Static) else _known(passed)


def _passed(given: tuple[Passed, ...]) -> Iterator[Value]:
    """The values among arguments, in order."""
    for one in given:
        if isinstance(one, tuple):
            yield from _passed(one)
        elif isinstance(one, Value):
            yield one


def _known(value: Value) -> Type:
    assert value.type is not None
    return value.type


def _bound(body: Body, func: Func, arguments: list[Written], named: dict[str, Written], node: ast.Call) -> Bound:
    """Bind the arguments as Python does, its defaults too."""
    form = body.unit.signature(func)
    try:
        bound = form.python.bind(*arguments, **named)
    except TypeError as error:
        raise body.error(
            mistakes.ARGUMENTS,
            f"'{func.name}': {error}",
            node,
            f"it is {func.name}({', '.join(form.python.parameters)})",
        ) from None
    given: list[Written] = []
    for parameter in form.parameters:
        argument = bound.arguments.get(parameter.name)
        if argument is None:
            default = form.python.parameters[parameter.name].default
            argument = (capture(body, default, f"{parameter.name}={default!r}", node), node)
        given.append(argument)
    return Bound(func, form, tuple(given))


def _type_for(body: Body, operand: Operand, left_open: list[Operand], node: ast.AST) -> Type:
    """The type that an argument gives to a parameter without one.

    A literal takes the one scalar type that the other such arguments of its kind have; an integer also that of floats.
    """
    if not isinstance(operand, Weak):
        return _known(body.materialise(operand, node))
    default = default_type(operand)
    others = {
        value.type.scalar
        for value in left_open
        if isinstance(value, Value) and isinstance(value.type, (Scalar, Composite))
    }
    own = {
        scalar for scalar in others if scalar.is_float == default.is_float and scalar.is_integer == default.is_integer
    }
    floats = {scalar for scalar in others if scalar.is_float and default.is_integer}
    fitting = own or floats
    return fitting.pop() if len(fitting) == 1 else default


# overloads


def _chosen(body: Body, func: Func, arguments: list[Written], named: dict[str, Written], node: ast.Call) -> Bound:
    """Find the overload that the arguments fit best: with the fewest literals that change their type, then the
    one that leaves least open. One with the same types as a later one is hidden by it."""
    candidates: dict[tuple[object, ...], Func] = {}
    for overload in func.overloads:
        candidates[tuple(parameter.type for parameter in body.unit.signature(overload).parameters)] = overload
    fitting: list[tuple[tuple[int, int], Bound]] = []
    for overload in candidates.values():
        try:
            bound = _bound(body, overload, arguments, named, node)
        except BuildTypeError:
            continue
        costs = [_cost(operand, parameter.type) for operand, _, parameter in bound.pairs]
        if None not in costs:
            literals, opened = (sum(cost[part] for cost in costs if cost is not None) for part in (0, 1))
            fitting.append(((literals, opened), bound))
    best = min((cost for cost, _ in fitting), default=None)
    chosen = [bound for cost, bound in fitting if cost == best]
    if len(chosen) != 1:
        raise _unclear(body, func, list(candidates.values()), [*arguments, *named.values()], bool(chosen), node)
    return chosen[0]


def _cost(operand: Operand, kind: Any) -> tuple[int, int] | None:
    """What an argument costs a parameter: literals of another type, and what is left open; None if it does not fit."""
    if isinstance(operand, Weak):
        if isinstance(kind, Scalar):
            fits = not any(unfit(literal, kind) for literal in outcomes(operand))
            return (_change(default_type(operand), kind), 0) if fits else None
        return (0, openness(kind)) if kind is Any or matches(kind, default_type(operand)) else None
    if isinstance(operand, Value):
        return (0, openness(kind)) if matches(kind, operand.type) else None
    return (0, openness(kind)) if kind is Any else None


def _change(given: Scalar, wanted: Scalar) -> int:
    """How far a literal goes to be of a type: an integer becomes f32, which is the language's float, before others."""
    return 0 if given == wanted else 1 if given.is_float or wanted == float32 else 2


def _unclear(
    body: Body, func: Func, candidates: list[Func], given: list[Written], several: bool, node: ast.AST
) -> BuildError:
    types = ", ".join(_kind(operand) for operand, _ in given)
    what = "more than one overload" if several else "no overload"
    forms = "; ".join(f"{func.name}({body.unit.signature(one)})" for one in candidates)
    return body.error(
        mistakes.ARGUMENTS, f"{what} of '{func.name}' takes ({types})", node, f"convert an argument: {forms}"
    )


def _kind(operand: Operand) -> str:
    if isinstance(operand, Value) and not isinstance(operand.type, ArrayType):
        return repr(operand.type)
    return text(ast.Constant(operand.value)) if isinstance(operand, Literal) else describe(operand)
