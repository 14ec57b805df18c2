"""Printing: ``sn.printf``, and ``print``, which is the printf whose format follows from the types of its arguments."""

from __future__ import annotations

import ast

from sim_node.compiler.frontend.agree import numbers, text
from sim_node.compiler.frontend.body import Body, describe
from sim_node.compiler.frontend.construction import cast
from sim_node.compiler.frontend.operand import Literal, Operand, Static
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import (
    Composite,
    Kind,
    Scalar,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from sim_node.errors import mistakes
from sim_node.lang.builtins import print_, printf
from sim_node.lang.formats import CONVERSION, FLOATS, SIGNED, UNSIGNED, escaped, joined, printed

MOST = 256  # numbers that one call writes (SN_RECORD_MAX)

_SIGNED = {scalar.bits: scalar for scalar in (int8, int16, int32, int64)}
_UNSIGNED = {scalar.bits: scalar for scalar in (uint8, uint16, uint32, uint64)}
# kind → the word that a number becomes
_WORDS = {Kind.BOOL: uint64, Kind.INT: int64, Kind.UINT: uint64, Kind.FLOAT: float64}

# A format, and the words that it writes.
Written = tuple[str, list[Value]]


def prints(target: object) -> bool:
    """Whether a call of the thing prints."""
    return target is print or target is print_ or target is printf


def printing(body: Body, target: object, node: ast.Call) -> Value:
    """Lower ``print(…)`` or ``sn.printf(…)``."""
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            raise body.error(mistakes.PRINTING, "what is printed is written one by one", argument, "print each part")
    form, words = _printf(body, node) if target is printf else _print(body, node)
    if len(words) > MOST:
        what = f"one call prints {MOST} numbers at most, and these are {len(words)}"
        raise body.error(mistakes.PRINTING, what, node, "print it in parts")
    return body.emit(Op.PRINT, None, tuple(words), node, body.site("print", form, node))


def _known_text(body: Body, node: ast.expr) -> str | Operand:
    """Lower an argument; text, which exists only at build, stays what it is."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    operand: Operand = body.visit(node)
    return operand.value if isinstance(operand, Static) and isinstance(operand.value, str) else operand


# print


def _print(body: Body, node: ast.Call) -> Written:
    between, end = " ", "\n"
    for keyword in node.keywords:
        if keyword.arg not in ("sep", "end"):
            what = f"print has no '{keyword.arg or '**'}' in a kernel"
            raise body.error(mistakes.PRINTING, what, keyword.value, "sep and end are what it takes by name")
        given = _known_text(body, keyword.value)
        if not isinstance(given, str):
            raise body.error(mistakes.PRINTING, f"'{keyword.arg}' is text", keyword.value, "")
        between, end = (given, end) if keyword.arg == "sep" else (between, given)
    parts = [_shown(body, _known_text(body, argument), argument) for argument in node.args]
    return joined([form for form, _ in parts], between, end), [word for _, words in parts for word in words]


def _shown(body: Body, operand: str | Operand, node: ast.expr) -> Written:
    """The format of one argument: Warp's."""
    if isinstance(operand, str):
        return escaped(operand), []
    if isinstance(operand, tuple):
        parts = [_shown(body, part, node) for part in operand]
        return f"({', '.join(form for form, _ in parts)})", [word for _, words in parts for word in words]
    value = body.materialise(operand, node)
    kind = value.type
    if not isinstance(kind, (Scalar, Composite)):
        return printed(kind), []
    word = _WORDS[(kind if isinstance(kind, Scalar) else kind.scalar).kind]
    single = (value,) if isinstance(kind, Scalar) else numbers(body, value, node)
    return printed(kind), [_word(body, one, word, node) for one in single]


def _word(body: Body, value: Value, word: Scalar, node: ast.AST) -> Value:
    """The value in the 64 bits of a word."""
    return value if value.type == word else body.emit(Op.CAST, word, (value,), node)


# printf


def _printf(body: Body, node: ast.Call) -> Written:
    if node.keywords or not node.args:
        raise body.error(mistakes.PRINTING, "sn.printf takes a format, and a value for each conversion in it", node, "")
    form = _known_text(body, node.args[0])
    if not isinstance(form, str):
        what = f"the format of sn.printf is text that the build knows, not {describe(form)}"
        raise body.error(mistakes.PRINTING, what, node.args[0], '"x = %g\\n"')
    conversions = [match for match in CONVERSION.finditer(form) if match["kind"] != "%"]
    for match in conversions:
        if match["kind"] is None:
            what = f"'{form[match.start() :][:2]}' in the format is no conversion of sn.printf"
            raise body.error(mistakes.PRINTING, what, node.args[0], "%% writes a percent sign")
    if len(conversions) != len(node.args) - 1:
        what = f"the format has {len(conversions)} conversions, and {len(node.args) - 1} values follow"
        raise body.error(mistakes.PRINTING, what, node, "give one for each")
    made, words, end = "", list[Value](), 0
    for match, argument in zip(conversions, node.args[1:]):
        made += form[end : match.start()]
        end = match.end()
        given = _known_text(body, argument)
        if isinstance(given, str) and match["kind"] == "s":
            made += escaped(f"%{match['how']}s" % given)
            continue
        words.append(_converted(body, match["kind"], given, argument))
        made += f"%{match['how']}{match['kind']}"
    return made + form[end:], words


def _converted(body: Body, letter: str, given: str | Operand, node: ast.expr) -> Value:
    """The word that a conversion writes; an integer is one of its own width, with the sign that the letter means."""
    word = int64 if letter in SIGNED else uint64 if letter in UNSIGNED else float64 if letter in FLOATS else None
    if word is not None and isinstance(given, Literal) and (word is not uint64 or given.value >= 0):
        return body.constant(word, given, node)
    value = None if isinstance(given, str) else body.materialise(given, node)
    kind = value.type if value is not None else None
    wanted = {int64: "biu", uint64: "biu", float64: "f", None: "b"}[word]
    if value is None or not isinstance(kind, Scalar) or kind.kind.value not in wanted:
        what = f"'%{letter}' does not write '{text(node)}', which is {'text' if kind is None else repr(kind)}"
        raise body.error(
            mistakes.PRINTING, what, node, f"float({text(node)})" if word is float64 else "%d of integers, %g of floats"
        )
    if kind.is_integer:
        value = cast(body, value, (_SIGNED if word is int64 else _UNSIGNED)[kind.bits], node)
    return _word(body, value, word or uint64, node)
