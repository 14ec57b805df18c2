"""Operators of structs: what a func of the module says that is named as the operator is called, ``add`` for ``+``."""

from __future__ import annotations

import ast

from sim_node.compiler.frontend.agree import Written
from sim_node.compiler.frontend.body import Body
from sim_node.compiler.frontend.funcs import call_func
from sim_node.compiler.frontend.operand import Operand
from sim_node.compiler.ir.function import Value
from sim_node.dtypes import Struct
from sim_node.errors import BuildError, mistakes
from sim_node.lang.func import Func

# The names are those of the library's funcs that do what the operators do.
FUNCS = {"+": "add", "-": "sub", "*": "mul", "/": "div", "//": "floordiv", "%": "mod"}


def of_structs(body: Body, symbol: str, node: ast.AST, *operands: Written) -> Operand | None:
    """Call the func that is meant where an operand is a struct; None where none is.

    Raises BuildTypeError where the module has no such func.
    """
    kinds = [operand.type for operand, _ in operands if isinstance(operand, Value) and isinstance(operand.type, Struct)]
    if not kinds:
        return None
    name = FUNCS.get(symbol, "") if len(operands) == 2 else ""
    func = body.scope.globals.get(name)
    if not isinstance(func, Func) or func.changes:
        raise no_operator(body, symbol, kinds[0], name, node)
    call = ast.copy_location(ast.Call(ast.Name(name), [at for _, at in operands if isinstance(at, ast.expr)], []), node)
    result = call_func(body, func, list(operands), {}, call)
    body.called.setdefault(node, []).extend(body.called.pop(call))
    return result


def no_operator(body: Body, symbol: str, kind: object, name: str, node: ast.AST) -> BuildError:
    """Make the error that says that structs do not have an operator, and how it is made."""
    remedy = f"define it in the module: @sn.func def {name}(a: {kind!r}, b: {kind!r})" if name else ""
    what = f"'{symbol}' is not defined for {kind!r}"
    return body.error(mistakes.OPERATOR, what, node, remedy or "write an @sn.func of its fields, and call it")
