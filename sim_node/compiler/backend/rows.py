"""How each op is written in LLVM IR: one row an op, by the kind of its operands.

Every row gives the same bits on every target: no fast-math flag, no contraction, no flag under which wrap-around would
be undefined. What LLVM leaves open (a shift by the width, a conversion out of range, the order of zeros in minnum) does
not occur.

In a row, {0} {1} {2} are the operands, {t} is their LLVM type and {s} the suffix of intrinsics on it, {rt} and {rs} the
same of the result, {r} the result's name, {bits} the operand's width, {mask} that less one, {nan} the bits of its NaN.
"""

from __future__ import annotations

import struct

from sim_node.compiler.ir.function import Attr
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import Kind, Scalar

TYPES = {"bool": "i1", "i32": "i32", "u32": "i32", "i64": "i64", "u64": "i64", "f32": "float", "f64": "double"}
# The one NaN: quiet, positive, no payload; its bits by width.
NAN = {32: 0x7FC00000, 64: 0x7FF8000000000000}

_CALL1 = "{r} = call {t} @llvm.%s.{s}({t} {0})"
_CALL2 = "{r} = call {t} @llvm.%s.{s}({t} {0}, {t} {1})"
_TWO = "{r} = %s {t} {0}, {1}"
_SHIFT = "{r}.n = and {t} {1}, {mask}\n{r} = %s {t} {0}, {r}.n"
# minimumNumber and maximumNumber: the lesser or greater, of zeros the one whose sign wins, and a number before NaN.
# Not llvm.minimumnum: LLVM 22 gives NaN on x86 with AVX-512DQ where it knows that one operand is a number.
_EXTREME = (
    "{r}.c = fcmp %s {t} {0}, {1}\n{r}.m = select i1 {r}.c, {t} {0}, {t} {1}\n"
    "{r}.a = bitcast {t} {0} to i{bits}\n{r}.b = bitcast {t} {1} to i{bits}\n{r}.s = %s i{bits} {r}.a, {r}.b\n"
    "{r}.z = bitcast i{bits} {r}.s to {t}\n{r}.e = fcmp oeq {t} {0}, {1}\n"
    "{r}.n = select i1 {r}.e, {t} {r}.z, {t} {r}.m\n{r}.u = fcmp uno {t} {1}, {1}\n"
    "{r} = select i1 {r}.u, {t} {0}, {t} {r}.n"
)
# The bits of a float. The choice is made between integers: between floats LLVM may drop it, one NaN being as good as
# another to it (it does so for a square root).
CANONICAL = (
    "{r}.u = fcmp uno {t} {0}, {0}\n{r}.w = bitcast {t} {0} to i{bits}\n"
    "{r} = select i1 {r}.u, i{bits} {nan}, i{bits} {r}.w"
)

ROWS: dict[Op, dict[str, str]] = {
    Op.ADD: {"iu": _TWO % "add", "f": _TWO % "fadd"},
    Op.SUB: {"iu": _TWO % "sub", "f": _TWO % "fsub"},
    Op.MUL: {"iu": _TWO % "mul", "f": _TWO % "fmul"},
    Op.DIV: {"f": _TWO % "fdiv"},
    Op.QUOT: {"i": _TWO % "sdiv", "u": _TWO % "udiv"},
    Op.REM: {"i": _TWO % "srem", "u": _TWO % "urem"},
    Op.NEG: {"iu": "{r} = sub {t} 0, {0}", "f": "{r} = fneg {t} {0}"},
    Op.ABS: {
        "i": "{r} = call {t} @llvm.abs.{s}({t} {0}, i1 false)",
        "u": "{r} = add {t} {0}, 0",
        "f": _CALL1 % "fabs",
    },
    Op.MIN: {"i": _CALL2 % "smin", "u": _CALL2 % "umin", "f": _EXTREME % ("olt", "or")},
    Op.MAX: {"i": _CALL2 % "smax", "u": _CALL2 % "umax", "f": _EXTREME % ("ogt", "and")},
    Op.SQRT: {"f": _CALL1 % "sqrt"},
    Op.FMA: {"f": "{r} = call {t} @llvm.fma.{s}({t} {0}, {t} {1}, {t} {2})"},
    Op.MULADD: {"f": "{r} = call {t} @llvm.fmuladd.{s}({t} {0}, {t} {1}, {t} {2})"},
    Op.FLOOR: {"f": _CALL1 % "floor"},
    Op.CEIL: {"f": _CALL1 % "ceil"},
    Op.TRUNC: {"f": _CALL1 % "trunc"},
    Op.RINT: {"f": _CALL1 % "roundeven"},
    Op.AND: {"biu": _TWO % "and"},
    Op.OR: {"biu": _TWO % "or"},
    Op.XOR: {"biu": _TWO % "xor"},
    Op.INVERT: {"biu": "{r} = xor {t} {0}, -1"},
    Op.SHL: {"iu": _SHIFT % "shl"},
    Op.SHR: {"i": _SHIFT % "ashr", "u": _SHIFT % "lshr"},
    Op.EQ: {"biu": _TWO % "icmp eq", "f": _TWO % "fcmp oeq"},
    Op.NE: {"biu": _TWO % "icmp ne", "f": _TWO % "fcmp une"},
    Op.LT: {"i": _TWO % "icmp slt", "u": _TWO % "icmp ult", "f": _TWO % "fcmp olt"},
    Op.LE: {"i": _TWO % "icmp sle", "u": _TWO % "icmp ule", "f": _TWO % "fcmp ole"},
    Op.GT: {"i": _TWO % "icmp sgt", "u": _TWO % "icmp ugt", "f": _TWO % "fcmp ogt"},
    Op.GE: {"i": _TWO % "icmp sge", "u": _TWO % "icmp uge", "f": _TWO % "fcmp oge"},
    Op.SELECT: {"b": "{r} = select i1 {0}, {rt} {1}, {rt} {2}"},
    Op.RAW: {"f": "{r} = bitcast {t} {0} to {rt}"},
    Op.BITCAST: {
        "iu": "{r} = bitcast {t} {0} to {rt}",
        "f": CANONICAL.replace("{r} =", "{r}.c =") + "\n{r} = bitcast i{bits} {r}.c to {rt}",
    },
}

_SATURATE = "{r} = call {rt} @llvm.%s.sat.{rs}.{s}({t} {0})"
_CONVERT = "{r} = %s {t} {0} to {rt}"
# (kind of operand, kind of result) → row; between types of one width see ``cast``.
_CASTS: dict[tuple[str, str], str] = {
    ("iu", "b"): "{r} = icmp ne {t} {0}, 0",
    ("f", "b"): "{r} = fcmp une {t} {0}, 0.0",
    ("b", "iu"): _CONVERT % "zext",
    ("bu", "f"): _CONVERT % "uitofp",
    ("i", "f"): _CONVERT % "sitofp",
    ("f", "i"): _SATURATE % "fptosi",
    ("f", "u"): _SATURATE % "fptoui",
}
_WIDEN = {Kind.INT: "sext", Kind.UINT: "zext", Kind.FLOAT: "fpext"}


def row(op: Op, source: Scalar, result: Scalar) -> str:
    """Pick the row of an op for the type of its first operand."""
    if op is Op.CAST:
        return _cast(source, result)
    return next(line for kinds, line in ROWS[op].items() if source.kind.value in kinds)


def _cast(source: Scalar, result: Scalar) -> str:
    for (given, wanted), line in _CASTS.items():
        if source.kind.value in given and result.kind.value in wanted:
            return line
    if source.bits == result.bits:
        return "{r} = bitcast {t} {0} to {rt}"
    if source.bits < result.bits:
        return _CONVERT % _WIDEN[source.kind]
    return _CONVERT % ("fptrunc" if source.is_float else "trunc")


def constant(kind: Scalar, attr: Attr) -> str:
    """Write a constant exactly."""
    if kind.kind is Kind.BOOL:
        return "true" if attr else "false"
    if not kind.is_float:
        return str(attr)
    number = float(attr)  # type: ignore[arg-type]
    # LLVM writes a float as the double of its value.
    return f"0x{NAN[64] if number != number else struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
