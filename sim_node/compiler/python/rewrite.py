"""The rewriting of a kernel's or func's syntax tree for CPython: same lines, same columns, the language's meaning.

What plain Python does right with numpy's scalars stays as it is. Calls go where it does not: a variable takes its type,
an index is checked, an integer division may stop the thread.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from sim_node.compiler.frontend.agree import text
from sim_node.compiler.frontend.body import Body, Renewed
from sim_node.compiler.frontend.operators import BINARY
from sim_node.compiler.frontend.overloading import FUNCS
from sim_node.compiler.frontend.statements import compared
from sim_node.compiler.python import operations, places, settle
from sim_node.compiler.python.callables import callee
from sim_node.lang.static import static

# Operators that are calls; names that no source can hold.
OPERATORS: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Div: operations.divide,
    ast.FloorDiv: operations.floor_divide,
    ast.Mod: operations.modulo,
    ast.Pow: operations.power,
    ast.LShift: operations.left_shift,
    ast.RShift: operations.right_shift,
}
_UNKNOWN = object()


class Functions(Protocol):
    """The functions of a module under CPython."""

    def function(self, name: str) -> Callable[..., Any]:
        """Give one by its name in the module."""

    def chosen(self, names: list[str], func: Any) -> Callable[..., Any]:
        """Give that of several which a func and the arguments of its call choose."""


class Rewriter(ast.NodeTransformer):
    """Rewrites one function, lowered for one tuple of argument types.

    ``constants`` collects what the new tree mentions by names of its own.
    """

    def __init__(self, body: Body, functions: Functions) -> None:
        self.body, self.functions = body, functions
        self.constants: dict[str, Any] = {}
        self.origin: dict[ast.AST, ast.AST] = {}

    def rewritten(self) -> ast.FunctionDef:
        """Give the new function, with neither marks nor annotations nor defaults."""
        old = self.body.source.tree
        tree = copy.deepcopy(old)
        assert isinstance(tree, ast.FunctionDef)
        self.origin = dict(zip(ast.walk(tree), ast.walk(old)))
        arguments = [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]
        head = [self.settled_argument(argument) for argument in arguments if self.type_of(argument.arg) is not None]
        tree.body = [*head, *self.statements(tree.body)]
        for argument in arguments:
            argument.annotation = None
        tree.decorator_list, tree.returns = [], None
        tree.args.defaults = [ast.Constant(None) for _ in tree.args.defaults]
        tree.args.kw_defaults = [default and ast.Constant(None) for default in tree.args.kw_defaults]
        return ast.fix_missing_locations(tree)

    # making nodes

    def constant(self, thing: object) -> ast.expr:
        """Mention an object."""
        name = f"@{len(self.constants)}"
        self.constants[name] = thing
        return ast.Name(name, ast.Load())

    def call(self, at: ast.AST, function: object, *args: ast.expr) -> ast.Call:
        """Call an object of ours in the place of a node."""
        made = ast.Call(self.constant(function), list(args), [])
        for part in (made, made.func, *args):
            if not hasattr(part, "lineno"):
                ast.copy_location(part, at)
        return made

    def settled(self, value: ast.expr, type_: Any) -> ast.expr:
        """Give a value to what has a type; numbers and composite values change on the way."""
        return self.call(value, settle.settle, value, self.constant(type_))

    def settled_argument(self, argument: ast.arg) -> ast.stmt:
        """Give an argument to its parameter."""
        name = ast.copy_location(ast.Name(argument.arg, ast.Load()), argument)
        target = ast.copy_location(ast.Name(argument.arg, ast.Store()), argument)
        return ast.copy_location(ast.Assign([target], self.settled(name, self.type_of(argument.arg))), argument)

    def type_of(self, name: str) -> Any:
        """The type of a variable, of a tuple those of its parts, None where it has none."""
        variable = self.body.variables.get(name)
        if variable is not None and variable.parts is not None:
            return tuple(self.type_of(f"{name}[{at}]") for at in range(variable.parts))
        return variable.type if variable is not None else None

    def visit(self, node: ast.AST) -> Any:
        """Rewrite a node; a choice between numbers takes its type where the compiler gave it one."""
        made = super().visit(node)
        type_ = self.body.chosen.get(self.origin.get(node, node))
        return self.settled(made, type_) if type_ is not None and isinstance(node, ast.expr) else made

    # statements

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        """Rewrite ``a = b = value``: the value once, then the targets from left to right."""
        node.value = self.visit(node.value)
        if len(node.targets) == 1:
            return self.assigned(node, node.targets[0], node.value)
        once = ast.copy_location(ast.Name("@value", ast.Store()), node)
        first = ast.copy_location(ast.Assign([once], node.value), node)
        load = ast.copy_location(ast.Name("@value", ast.Load()), node)
        return [first, *(self.assigned(node, target, copy.copy(load)) for target in node.targets)]

    def assigned(self, node: ast.stmt, target: ast.expr, value: ast.expr) -> ast.stmt:
        """Assign a value that was rewritten to a target that was not."""
        if isinstance(target, ast.Subscript):
            args = value, self.place(target.value), self.visit(target.slice), self.subject(target)
            return ast.copy_location(ast.Expr(self.call(target, places.put, *args)), node)
        if isinstance(target, (ast.Tuple, ast.List)):
            return self.unpacked(node, target, value)
        if isinstance(target, ast.Attribute):
            target.value = self.place(target.value)
        elif isinstance(target, ast.Name):
            value = self.settled(value, self.type_of(target.id))
        return ast.copy_location(ast.Assign([target], value), node)

    def unpacked(self, node: ast.stmt, target: ast.Tuple | ast.List, value: ast.expr) -> ast.stmt:
        """Take the parts first, each of the type of its variable, and then assign one after the other."""
        types = tuple(self.type_of(part.id) if isinstance(part, ast.Name) else None for part in target.elts)
        if isinstance(value, ast.Tuple) and not any(isinstance(part, (ast.Tuple, ast.List)) for part in target.elts):
            value.elts = [self.settled(part, type_) for part, type_ in zip(value.elts, types)]
        else:
            value = self.call(value, settle.unpack, value, self.constant(types))
        simple, later = [], []
        for number, part in enumerate(target.elts):
            if isinstance(part, ast.Name):
                simple.append(part)
                continue
            name = f"@part{number}.{len(self.constants)}"
            simple.append(ast.copy_location(ast.Name(name, ast.Store()), part))
            later.append(self.assigned(node, part, ast.copy_location(ast.Name(name, ast.Load()), part)))
        target.elts = list(simple)
        whole = ast.copy_location(ast.Assign([target], value), node)
        if not later:
            return whole
        always = ast.copy_location(ast.Constant(True), node)
        return ast.copy_location(ast.If(always, [whole, *later], []), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Rewrite ``a: type = value``."""
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return self.assigned(node, node.target, self.visit(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        """Rewrite ``place op= value``: the place is found once, and read before the value."""
        written = text(self.origin[node])
        value = self.visit(node.value)
        target = node.target
        if isinstance(target, ast.Name):
            before = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            result = self.operation(node, node.op, before, value, written)
            return self.assigned(node, target, result)
        if isinstance(target, ast.Subscript):
            args = self.place(target.value), self.visit(target.slice), self.subject(target)
        else:
            args = self.place(target.value), ast.Constant(target.attr), ast.Constant(None)
        spot = ast.copy_location(ast.Attribute(self.call(target, places.Place, *args), "apply", ast.Load()), target)
        func = self.operator(node)
        operate = self.constant(func or self.plain(node.op))
        texts = [ast.Constant(written)] if func is None and type(node.op) in OPERATORS else []
        return ast.copy_location(ast.Expr(ast.copy_location(ast.Call(spot, [operate, value, *texts], []), node)), node)

    def plain(self, op: ast.operator) -> Callable[..., Any]:
        """The function that an operator is."""
        if type(op) in OPERATORS:
            return OPERATORS[type(op)]
        binary: Callable[..., Any] = eval(compile(_lambda(op), "<operator>", "eval"))
        return binary

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        """Rewrite return: the result has its type."""
        if node.value is not None:
            node.value = self.settled(self.visit(node.value), self.body.result)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        """Rewrite assert: the thread stops."""
        message = node.msg.value if isinstance(node.msg, ast.Constant) else text(self.origin[node.test])
        symbol = compared(node.test)
        if symbol:
            test = self.visit(node.test)
            parts = (test.left, test.comparators[0], ast.Constant(symbol), ast.Constant(message))
            made = self.call(node, operations.check_compared, *parts)
        else:
            made = self.call(node, operations.check, self.visit(node.test), ast.Constant(message))
        return ast.copy_location(ast.Expr(made), node)

    def visit_For(self, node: ast.For) -> Any:
        """Rewrite a for loop, whose name is a variable like any other; what it runs over changes no more."""
        node.iter = self.settled(self.visit(node.iter), None)
        node.body, node.orelse = self.statements(node.body), self.statements(node.orelse)
        if isinstance(node.target, ast.Name) and self.type_of(node.target.id) is not None:
            name = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
            store = ast.copy_location(ast.Name(node.target.id, ast.Store()), node.target)
            settled = self.settled(name, self.type_of(node.target.id))
            node.body.insert(0, ast.copy_location(ast.Assign([store], settled), node.target))
        return node

    def statements(self, nodes: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrite statements, each of which may become several."""
        made: list[ast.stmt] = []
        for node in nodes:
            new = self.visit(node)
            made += new if isinstance(new, list) else [new]
        return made

    # expressions

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Rewrite the reading of a subscript."""
        return self.call(node, places.at, self.visit(node.value), self.visit(node.slice), self.subject(node))

    def place(self, node: ast.expr) -> ast.expr:
        """Rewrite what a subscript or attribute is taken of that is assigned: writing there must reach the whole."""
        if isinstance(node, ast.Subscript):
            args = self.place(node.value), self.visit(node.slice), self.subject(node)
            return self.call(node, places.inside, *args)
        if isinstance(node, ast.Attribute):
            return self.call(node, places.attribute, self.place(node.value), ast.Constant(node.attr))
        made: ast.expr = self.visit(node)
        return made

    def subject(self, node: ast.Subscript) -> ast.expr:
        """Name what is indexed, as a site does."""
        return ast.Constant(text(self.origin[node.value]))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Rewrite an operator that is a call."""
        written = text(self.origin[node])
        return self.operation(node, node.op, self.visit(node.left), self.visit(node.right), written)

    def operator(self, node: ast.BinOp | ast.AugAssign) -> Callable[..., Any] | None:
        """The func that an operator is where its operands are structs."""
        called = [*dict.fromkeys(self.body.called.get(self.origin.get(node, node), ()))]
        if len(called) < 2:
            return self.functions.function(called[0]) if called else None
        return self.functions.chosen(called, self.body.scope.globals[FUNCS[BINARY[type(node.op)].symbol]])

    def operation(
        self, node: ast.BinOp | ast.AugAssign, op: ast.operator, left: ast.expr, right: ast.expr, written: str
    ) -> ast.expr:
        """An operation of operands that were rewritten; of structs it is a call of a func."""
        func = self.operator(node)
        if func is not None:
            return ast.copy_location(ast.Call(self.constant(func), [left, right], []), node)
        if type(op) in OPERATORS:
            return self.call(node, OPERATORS[type(op)], left, right, ast.Constant(written))
        return ast.copy_location(ast.BinOp(left, op, right), node)

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        """Rewrite a tuple."""
        node.elts = list(self.several(node.elts))
        return node

    def several(self, nodes: Sequence[ast.expr]) -> Iterator[ast.expr]:
        """Rewrite expressions that follow each other; a slice of an array behind ``*`` is its elements."""
        for node in nodes:
            elements = self.body.spread.get(self.origin.get(node, node))
            for element in elements or ():
                twin = copy.deepcopy(element)
                self.origin.update(zip(ast.walk(twin), ast.walk(element)))
                yield self.visit(twin)
            if elements is None:
                yield self.visit(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Rewrite a call: of a func its instance, of anything else what it does here."""
        old = self.origin[node]
        called = self.body.called.get(old)
        thing = self.known(node.func)
        if thing is static:
            return self.constant_part(node.args[0])
        node.args = list(self.several(node.args))
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        if called is not None and len(set(called)) == 1:
            node.func = ast.copy_location(self.constant(self.functions.function(called[0])), node.func)
            return self.renewing(node, self.body.renewed.get(old))
        if called is not None:
            names = self.constant([*dict.fromkeys(called)])
            node.func = self.call(node.func, self.functions.chosen, names, self.visit(node.func))
            return self.renewing(node, self.body.renewed.get(old))
        if thing is not _UNKNOWN:
            node.func = ast.copy_location(self.constant(callee(thing)), node.func)
        else:
            node.func = self.call(node.func, callee, self.visit(node.func))
        return node

    def renewing(self, node: ast.Call, renewed: Renewed | None) -> ast.expr:
        """A call of a func, whose values behind the result go to the variables that it changes."""
        if renewed is None:
            return node
        parts = [node] if len(renewed.variables) + renewed.result == 1 else []
        made: list[ast.expr] = []
        if not parts:
            made.append(ast.NamedExpr(ast.Name("@returned", ast.Store()), node))
        for at, name in enumerate(renewed.variables, renewed.result):
            value = parts[0] if parts else _nth("@returned", at)
            made.append(value if name is None else ast.NamedExpr(ast.Name(name, ast.Store()), value))
        made.append(_nth("@returned", 0) if renewed.result else ast.Constant(None))
        last = ast.Subscript(ast.Tuple(made, ast.Load()), ast.Constant(-1), ast.Load())
        for part in ast.walk(last):
            if not hasattr(part, "lineno"):
                ast.copy_location(part, node)
        return last

    def constant_part(self, node: ast.expr) -> ast.expr:
        """Rewrite what the build evaluates: in plain Python, and variables are numbers there."""
        for part in ast.walk(node):
            for name, child in ast.iter_fields(part):
                if isinstance(child, ast.Name) and child.id in self.body.scope.locals:
                    setattr(part, name, self.call(child, settle.plain, child))
        return self.call(node, settle.captured, node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Rewrite the reading of a name."""
        return self.outside(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Rewrite the reading of an attribute."""
        return self.outside(node)

    def outside(self, node: ast.Name | ast.Attribute) -> ast.expr:
        """Read a variable or a part of one, or what stands around the function as it was when that was built."""
        thing = self.known(node) if isinstance(node.ctx, ast.Load) else _UNKNOWN
        if thing is not _UNKNOWN:
            return ast.copy_location(self.constant(settle.captured(thing)), node)
        if isinstance(node, ast.Attribute):
            return self.call(node, places.attribute, self.visit(node.value), ast.Constant(node.attr))
        return node

    def known(self, node: ast.expr) -> Any:
        """What a name around the function, or an attribute of a module, is."""
        if isinstance(node, ast.Name) and node.id not in self.body.scope.locals:
            try:
                return self.body.scope.lookup(node.id)
            except KeyError:  # it stands where the build knew that nothing comes
                return _UNKNOWN
        if isinstance(node, ast.Attribute):
            base = self.known(node.value)
            if base is not _UNKNOWN:
                return getattr(base, node.attr, _UNKNOWN)
        return _UNKNOWN


def _nth(name: str, at: int) -> ast.expr:
    return ast.Subscript(ast.Name(name, ast.Load()), ast.Constant(at), ast.Load())


def _lambda(op: ast.operator) -> ast.Expression:
    names = [ast.arg("a"), ast.arg("b")]
    body = ast.BinOp(ast.Name("a", ast.Load()), op, ast.Name("b", ast.Load()))
    made = ast.Lambda(ast.arguments([], names, None, [], [], None, []), body)
    return ast.fix_missing_locations(ast.Expression(made))
