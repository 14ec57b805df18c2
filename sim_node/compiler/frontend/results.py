"""What a function returns: one form for all its returns, which literals adapt to."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sim_node.compiler.frontend.agree import sources_of
from sim_node.compiler.frontend.body import Body, Form, describe
from sim_node.compiler.frontend.operand import Operand, Static, Weak, default_type
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import Tuple, Type
from sim_node.errors import mistakes

Returned = tuple[Operand, ast.AST]


def leaves(form: Form) -> Iterator[Type]:
    """The types of the parts, in order."""
    if isinstance(form, tuple):
        for part in form:
            yield from leaves(part)
    elif not isinstance(form, Static):
        yield form


def finish(body: Body, declared: Type | None) -> Form | None:
    """End every block that returns, and give the form of the result; ``declared`` is what stands after ``->``."""
    builder, tree = body.builder, body.source.tree
    falls = builder.current
    given = [(operand, _written(node)) for _, operand, node in body.returns if operand is not None]
    if falls is not None and given:
        path = f" {falls.when}" if falls.when else ""
        raise body.error(
            mistakes.MISSING_RETURN, f"'{tree.name}' returns a value on some paths, and ends without one{path}", tree,
            "return a value at the end",
        )  # fmt: skip
    if falls is not None:
        builder.leave()
    if declared is not None and not given:
        raise body.error(mistakes.RESULTS, f"'{tree.name}' says it returns {declared!r} and returns nothing", tree)
    result = _form(body, given, declared) if given else None
    for draft, operand, node in body.returns:
        builder.current = draft
        if operand is None and given:
            raise body.error(
                mistakes.MISSING_RETURN, "this return has no value, and others have", node, "return a value here too"
            )
        values = [] if operand is None or result is None else list(_values(body, operand, result, _written(node)))
        builder.leave(tuple(values), body.location(node))
    return result


def _written(node: ast.AST) -> ast.AST:
    return getattr(node, "value", None) or node


def _form(body: Body, given: list[Returned], declared: object) -> Form:
    """Find the form that all returns agree on, part by part."""
    (first, first_at) = given[0]
    if isinstance(first, tuple) or isinstance(declared, tuple):
        length = len(first) if isinstance(first, tuple) else 0
        for operand, at in given:
            if not isinstance(operand, tuple) or len(operand) != length:
                other = f"{len(operand)} values" if isinstance(operand, tuple) else "one value"
                wanted = f"{length} values" if isinstance(first, tuple) else "a tuple"
                raise body.error(
                    mistakes.RESULTS, f"'{body.source.tree.name}' returns {wanted}, and {other} here", at,
                    "return as many on every path",
                )  # fmt: skip
        if isinstance(declared, tuple) and len(declared) == 2 and declared[1] is ...:
            declared = (declared[0],) * length
        if isinstance(declared, tuple) and len(declared) != length:
            said = f"says it returns {len(declared)} values"
            raise body.error(mistakes.RESULTS, f"'{body.source.tree.name}' {said}, and {length} here", first_at)
        columns = zip(*(zip(operand, sources_of(at, length)) for operand, at in given if isinstance(operand, tuple)))
        wanted_parts = declared if isinstance(declared, tuple) else (None,) * length
        return tuple(_form(body, list(part), one) for part, one in zip(columns, wanted_parts, strict=True))
    for operand, at in given:
        if isinstance(operand, (Static, tuple)):
            raise body.error(mistakes.NO_VALUE, f"a func cannot return {describe(operand)}", at, "return a value")
    if isinstance(declared, Type):
        return declared
    typed = [operand.type for operand, _ in given if isinstance(operand, Value) and operand.type is not None]
    return typed[0] if typed else default_type(*(operand for operand, _ in given if isinstance(operand, Weak)))


def _values(body: Body, operand: Operand, result: Form, node: ast.AST) -> Iterator[Value]:
    if isinstance(result, tuple) and isinstance(operand, tuple):
        for part, one, at in zip(operand, result, sources_of(node, len(operand)), strict=True):
            yield from _values(body, part, one, at)
        return
    assert not isinstance(result, (tuple, Static))
    yield body.convert(operand, result, node, f"'{body.source.tree.name}' returns {result!r}: this")


def taken(body: Body, form: Form, call: Value, node: ast.AST) -> Operand:
    """Take the result of a call apart."""
    types = list(leaves(form))
    values = [call]
    if isinstance(call.type, Tuple):
        places = [call.type.place(at) for at in range(len(types))]
        values = [body.emit(Op.EXTRACT, type, (call,), node, first) for first, type in places]
    return _filled(form, iter(values))


def _filled(form: Form, values: Iterator[Value]) -> Operand:
    return tuple([_filled(part, values) for part in form]) if isinstance(form, tuple) else next(values)


def carried(form: Form | None) -> Type | None:
    """The type of a call that gives a form."""
    types = list(leaves(form)) if form is not None else []
    if len(types) < 2:
        return types[0] if types else None
    return Tuple(tuple(types))
