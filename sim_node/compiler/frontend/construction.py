"""Making values of composite types and structs: from nothing, one number, all numbers, or the parts they consist of."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TypeVar

from sim_node.compiler.frontend.agree import Written, agree, numbers, splat, text
from sim_node.compiler.frontend.body import Body, describe
from sim_node.compiler.frontend.known import python
from sim_node.compiler.frontend.operand import Literal, Operand, Static, Weak, spelled
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import (
    PYTHON,
    Composite,
    Kind,
    Matrix,
    Quaternion,
    Scalar,
    Struct,
    Transform,
    Type,
    Vector,
    bool_,
)
from sim_node.errors import mistakes

C = TypeVar("C", bound=Composite)

_LARGEST = 4096

Arguments = list[Written]
Named = dict[str, Written]

# The parts that a type may also be made of, in order; a matrix is made of rows or columns by name.
_PARTS: dict[type[Composite], Callable[[Composite], tuple[Type, ...]]] = {
    Quaternion: lambda kind: (kind.vector(3), kind.scalar),
    Transform: lambda kind: (kind.vector(3), Quaternion(kind.scalar)),
    Vector: lambda kind: (kind.vector(3),) * 2 if kind.length == 6 else (),
}
_NAMES: dict[type[Composite], tuple[str, ...]] = {Transform: ("p", "q"), Quaternion: ("x", "y", "z", "w")}
_EXAMPLE: dict[type[Composite], str] = {
    Matrix: "{0}() of zeros, {0}(s) filled, or all numbers row by row; sn.matrix_from_rows(…) takes vectors",
    Quaternion: "{0}(x, y, z, w) or {0}(v, w)",
    Transform: "{0}(p, q)",
    Vector: "{0}() of zeros, {0}(s) filled, {0}(v) converted, or one number a component",
}


_WORD: dict[type[Composite], str] = {
    Matrix: "matrix", Quaternion: "quaternion", Transform: "transform", Vector: "vector",
}  # fmt: skip
_SIZE: dict[type[Composite], str] = {
    Matrix: " of shape {0.shape}", Quaternion: "; expected 0, 1, or 4", Transform: "; expected 0, 1, or 7",
    Vector: " of length {0.length}",
}  # fmt: skip


def cast(body: Body, value: Value, scalar: Scalar, node: ast.AST) -> Value:
    """Convert a scalar by value."""
    if value.type is scalar or value.type == scalar:
        return value
    if scalar.kind is Kind.BOOL:
        assert isinstance(value.type, Scalar)
        return body.emit(Op.NE, bool_, (value, body.constant(value.type, Literal(0), node)), node)
    return body.emit(Op.CAST, scalar, (value,), node)


def zero(body: Body, kind: Type, node: ast.AST) -> Value:
    """The value of a type with all bits 0."""
    leaves = [body.builder.constant(leaf.scalar, _nothing(leaf.scalar)) for leaf in kind.leaves]
    return leaves[0] if isinstance(kind, Scalar) else body.emit(Op.MAKE, kind, tuple(leaves), node)


def unset(body: Body, kind: Composite, node: ast.AST) -> Value:
    """What a constructor gives that is told nothing: zeros, and of a transform the identity, as on the host."""
    if not isinstance(kind, Transform):
        return zero(body, kind, node)
    leaves = tuple(body.builder.constant(kind.scalar, number) for number in (0.0,) * 6 + (1.0,))
    return body.emit(Op.MAKE, kind, leaves, node)


def _nothing(scalar: Scalar) -> bool | int | float:
    return False if scalar is bool_ else 0.0 if scalar.is_float else 0


def composite(body: Body, kind: Composite, arguments: Arguments, named: Named, node: ast.Call) -> Value:
    """``sn.vec3(x, y, z)``, ``sn.mat22(s)``, ``sn.quat(v, w)``, ``sn.transform(p=p, q=q)`` and their kin."""
    given = _bound(body, kind, arguments, _untold(kind, named), node)
    if not given:
        return unset(body, kind, node)
    single, at = given[0]
    if len(given) == 1 and isinstance(single, Value) and isinstance(single.type, Composite):
        if single.type.shape != kind.shape:
            raise _unfit(body, kind, given, node)
        parts = tuple(cast(body, part, kind.scalar, node) for part in numbers(body, single, at))
        return body.emit(Op.MAKE, kind, parts, node)
    scalar = spelled(kind.scalar).removeprefix("sn.")
    role = f"each number that makes a {kind!r} is expected to be of the type of its components, which"
    if len(given) == 1 and kind.length > 1:
        why = f"the value used to fill this {_WORD[type(kind)]} is expected to be of the type `{scalar}`"
        return splat(body, body.convert(single, kind.scalar, at, role, why=why), kind, node)
    if len(given) == kind.length:
        why = f"all values used to initialize this {_WORD[type(kind)]} are expected to be of the type `{scalar}`"
        parts = tuple(body.convert(one, kind.scalar, at, role, why=why) for one, at in given)
        return body.emit(Op.MAKE, kind, parts, node)
    parts_of = _PARTS[type(kind)](kind) if type(kind) in _PARTS else ()
    if len(parts_of) != len(given) or all(_is_number(one) for one, _ in given):
        raise _unfit(body, kind, given, node)
    pairs, role = zip(given, parts_of, strict=True), f"a part of {kind!r}"
    return body.emit(Op.MAKE, kind, tuple(body.convert(one, part, at, role) for (one, at), part in pairs), node)


def _untold(kind: Composite, named: Named) -> Named:
    """The arguments by name, but for those that say what the type says already."""
    left = {}
    for name, (operand, at) in named.items():
        told = None if name not in ("shape", "length", "dtype") else python(operand)
        if told is None or (PYTHON.get(told, told) if name == "dtype" else told) != getattr(kind, name):
            left[name] = (operand, at)
    return left


def _bound(body: Body, kind: Composite, arguments: Arguments, named: Named, node: ast.AST) -> Arguments:
    """Arguments by name, put in order; of a transform the position or the rotation may be missing."""
    names = _NAMES.get(type(kind), ())
    if isinstance(kind, Transform) and (named or _is_position(arguments)):
        whole, (position, rotation) = unset(body, kind, node), _PARTS[Transform](kind)
        p, q = (body.emit(Op.EXTRACT, part, (whole,), node, at) for part, at in ((position, 0), (rotation, 3)))
        named = {**{name: (one, node) for name, one in list(zip("pq", (p, q)))[len(arguments) :]}, **named}
    if not named:
        return arguments
    wanted = names[len(arguments) : len(arguments) + len(named)]
    if set(wanted) != set(named) or len(arguments) + len(named) != len(names):
        raise _unfit(body, kind, [*arguments, *named.values()], node)
    return [*arguments, *(named[name] for name in wanted)]


def _is_position(arguments: Arguments) -> bool:
    """Whether there is one vector of three."""
    one = arguments[0][0] if len(arguments) == 1 else None
    return isinstance(one, Value) and isinstance(one.type, Vector) and one.type.length == 3


def _unfit(body: Body, kind: Composite, given: Arguments, node: ast.AST) -> Exception:
    took = ", ".join(describe(one) for one, _ in given) if len(given) < 4 else ""
    what = f"{kind!r} takes 0, 1 or {kind.length} components, not {len(given)}" + (f" ({took})" if took else "")
    why = f"incompatible number of values given ({len(given)}) when constructing a {_sized(kind)}"
    single = given[0][0] if len(given) == 1 else None
    if isinstance(single, Value) and type(single.type) is type(kind):
        why = f"incompatible {_sized(kind)} given when copy constructing a {_sized(single.type)}"
    return body.error(mistakes.CONSTRUCTION, what, node, f"{_EXAMPLE[type(kind)].format(spelled(kind))}: {why}")


def _sized(kind: Composite) -> str:
    return _WORD[type(kind)] + _SIZE[type(kind)].format(kind)


def struct(body: Body, kind: Struct, arguments: Arguments, named: Named, node: ast.Call) -> Value:
    """``S()``, ``S(a, b)`` and ``S(b=b)``: fields that are not given are zero."""
    names = [name for name, _ in kind.fields]
    if len(arguments) > len(names):
        what = f"{kind!r} has {len(names)} fields, and {len(arguments)} values are given"
        raise body.error(mistakes.FIELDS, what, node, f"{kind.name}({', '.join(names)})")
    for name in named:
        if name not in names[len(arguments) :]:
            why = "is given twice" if name in names else "is none of its fields"
            raise body.error(mistakes.FIELDS, f"{kind!r}: '{name}' {why}", node, f"{kind.name}({', '.join(names)})")
    given = {**dict(zip(names, arguments)), **named}
    values = []
    for name, field in kind.fields:
        one = given.get(name)
        values.append(zero(body, field, node) if one is None else body.convert(*_swap(one, field), f"'{name}'"))
    return body.emit(Op.MAKE, kind, tuple(values), node)


def _swap(one: Written, field: Type) -> tuple[Operand, Type, ast.AST]:
    return one[0], field, one[1]


# forms that say their type in arguments


def vector(body: Body, arguments: Arguments, named: Named, node: ast.Call) -> Value:
    """``sn.vector(x, y, …)``, with ``length=`` and ``dtype=`` where the components do not say so."""
    options = _options(body, named, ("length", "dtype"), node)
    if not arguments and "length" not in options:
        raise body.error(
            mistakes.CONSTRUCTION, "sn.vector of nothing has no length", node, "sn.vector(length=3, dtype=float): "
            "the `length` argument must be specified when zero-initializing a vector",
        )  # fmt: skip
    scalar = _scalar(body, options.get("dtype"), arguments, "sn.vector", node)
    length = len(arguments)
    if "length" in options:
        length = _size(body, options["length"])
        if 1 < len(arguments) != length:
            raise _unfit(body, Vector(scalar, length), arguments, node)
    elif len(arguments) == 1 and isinstance(arguments[0][0], Value) and isinstance(arguments[0][0].type, Vector):
        length = arguments[0][0].type.length
    if length < 1 or (length == 1 and "length" not in options and len(arguments) == 1 and _is_number(arguments[0][0])):
        raise body.error(
            mistakes.CONSTRUCTION, "sn.vector takes its components, or a length", node, "sn.vector(x, y, z)"
        )
    return composite(body, _small(body, Vector(scalar, length), node), arguments, {}, node)


def matrix(body: Body, arguments: Arguments, named: Named, node: ast.Call) -> Value:
    """``sn.matrix(…, shape=(r, c), dtype=)``: zeros, filled, or all numbers row by row."""
    options = _options(body, named, ("shape", "dtype"), node)
    scalar = _scalar(body, options.get("dtype"), arguments, "sn.matrix", node)
    if "shape" in options:
        operand, at = options["shape"]
        if not isinstance(operand, tuple) or len(operand) != 2:
            raise body.error(mistakes.CONSTRUCTION, "the shape of a matrix is its rows and columns", at, "shape=(3, 3)")
        rows, cols = (_size(body, (one, at)) for one in operand)
    elif len(arguments) == 1 and isinstance(arguments[0][0], Value) and isinstance(arguments[0][0].type, Matrix):
        rows, cols = arguments[0][0].type.shape
    else:
        raise body.error(
            mistakes.CONSTRUCTION, "sn.matrix does not know its shape", node, "sn.matrix(…, shape=(3, 3)): "
            "the `shape` argument must be specified when initializing a matrix by value",
        )  # fmt: skip
    return composite(body, _small(body, Matrix(scalar, rows, cols), node), arguments, {}, node)


def quaternion(body: Body, arguments: Arguments, named: Named, node: ast.Call) -> Value:
    """``sn.quaternion(x, y, z, w)`` or ``sn.quaternion(v, w)``, with ``dtype=`` where the numbers do not say so."""
    return _made(body, Quaternion, "sn.quaternion", arguments, named, node)


def transformation(body: Body, arguments: Arguments, named: Named, node: ast.Call) -> Value:
    """``sn.transformation(p, q)`` or its seven numbers, with ``dtype=`` where these do not say so."""
    return _made(body, Transform, "sn.transformation", arguments, named, node)


def _made(body: Body, kind: type[Composite], name: str, arguments: Arguments, named: Named, node: ast.Call) -> Value:
    options = {option: written for option, written in named.items() if option == "dtype"}
    parts = {option: written for option, written in named.items() if option != "dtype"}
    first = [*arguments, *parts.values()][:1]
    return composite(body, kind(_scalar(body, options.get("dtype"), first, name, node)), arguments, parts, node)


def identity(body: Body, arguments: Arguments, named: Named, node: ast.Call) -> Value:
    """``sn.identity(n=3, dtype=float)``."""
    options = {**dict(zip(("n", "dtype"), arguments)), **_options(body, named, ("n", "dtype"), node)}
    if set(options) != {"n", "dtype"}:
        raise body.error(mistakes.CONSTRUCTION, "sn.identity takes n and dtype", node, "sn.identity(n=3, dtype=float)")
    size, scalar = _size(body, options["n"]), _scalar(body, options["dtype"], [], "sn.identity", node)
    one: bool | int | float = 1.0 if scalar.is_float else 1
    ends = [body.builder.constant(scalar, number) for number in (_nothing(scalar), one)]
    kind = _small(body, Matrix(scalar, size, size), node)
    leaves = tuple(ends[row == col] for row in range(size) for col in range(size))
    return body.emit(Op.MAKE, kind, leaves, node)


def from_rows(body: Body, arguments: Arguments, named: Named, node: ast.Call) -> Value:
    """``sn.matrix_from_rows(a, b, …)``."""
    _options(body, named, (), node)
    rows = _vectors(body, "sn.matrix_from_rows", arguments, node)
    kind = rows[0].type
    assert isinstance(kind, Vector)
    return body.emit(Op.MAKE, Matrix(kind.scalar, len(rows), kind.length), rows, node)


def from_cols(body: Body, arguments: Arguments, named: Named, node: ast.Call) -> Value:
    """``sn.matrix_from_cols(a, b, …)``."""
    _options(body, named, (), node)
    cols = _vectors(body, "sn.matrix_from_cols", arguments, node)
    kind = cols[0].type
    assert isinstance(kind, Vector)
    parts = [numbers(body, col, node) for col in cols]
    leaves = tuple(part[row] for row in range(kind.length) for part in parts)
    return body.emit(Op.MAKE, Matrix(kind.scalar, kind.length, len(cols)), leaves, node)


def _vectors(body: Body, name: str, arguments: Arguments, node: ast.Call) -> tuple[Value, ...]:
    if arguments:
        values = agree(body, name, node, *arguments)
        if isinstance(values[0].type, Vector):
            return values
    raise body.error(
        mistakes.CONSTRUCTION, f"{name} takes vectors of one type", node, f"{name}(sn.vec3(…), sn.vec3(…))"
    )


def _options(body: Body, named: Named, known: tuple[str, ...], node: ast.Call) -> Named:
    for name in named:
        if name not in known:
            remedy = f"it takes {', '.join(known)}" if known else "pass the values in their order"
            raise body.error(mistakes.CONSTRUCTION, f"'{text(node.func)}' takes no '{name}'", node, remedy)
    return named


def _size(body: Body, written: Written) -> int:
    operand, at = written
    if isinstance(operand, Literal) and type(operand.value) is int and operand.value >= 1:
        return operand.value
    raise body.error(
        mistakes.CONSTRUCTION, f"a size is a number that the build knows, not {describe(operand)}", at, "3"
    )


def _small(body: Body, kind: C, node: ast.AST) -> C:
    """Refuse a type of more numbers than code can go through one by one."""
    if kind.length <= _LARGEST:
        return kind
    raise body.error(mistakes.CONSTRUCTION, f"{kind!r} has more than {_LARGEST} numbers", node, "use an array")


def _scalar(body: Body, dtype: Written | None, arguments: Arguments, name: str, node: ast.AST) -> Scalar:
    """The scalar type that is asked for, or that the numbers agree on."""
    if dtype is not None:
        operand, at = dtype
        wanted = operand.value if isinstance(operand, Static) else None
        wanted = PYTHON.get(wanted, wanted) if isinstance(wanted, type) else wanted
        if isinstance(wanted, Scalar):
            return wanted
        raise body.error(
            mistakes.CONSTRUCTION, f"a dtype is a scalar type, not {describe(operand)}", at, "dtype=sn.float32"
        )
    if not arguments:
        raise body.error(mistakes.CONSTRUCTION, f"{name} of nothing has no dtype", node, f"{name}(…, dtype=float)")
    scalar = agree(body, name, node, *arguments)[0].type
    if isinstance(scalar, Composite):
        return scalar.scalar
    if not isinstance(scalar, Scalar):
        raise body.error(mistakes.CONSTRUCTION, f"{name} is made of numbers, not of {scalar!r}", node)
    return scalar


def _is_number(operand: Operand) -> bool:
    return isinstance(operand, Weak) or (isinstance(operand, Value) and isinstance(operand.type, Scalar))


Form = Callable[[Body, Arguments, Named, ast.Call], Value]
# By the name of the builtin.
FORMS: Mapping[str, Form] = {
    "vector": vector,
    "matrix": matrix,
    "quaternion": quaternion,
    "transformation": transformation,
    "identity": identity,
    "matrix_from_rows": from_rows,
    "matrix_from_cols": from_cols,
}
