"""How each op is written in LLVM IR: one row an op, by the kind of its operands.

Every row gives the same bits on every target: no fast-math flag, no contraction, no flag under which wrap-around would
be undefined. What LLVM leaves open (a shift by the width, a conversion out of range, the order of zeros in minnum) does
not occur.

In a row, {0} {1} {2} are the operands, {t} is their LLVM type and {s} the suffix of intrinsics on it, {rt} and {rs} the
same of the result, {r} the result's name, {bits} the operand's width, {mask} that less one, {nan} the bits of its NaN.
A row is of one thread, or of as many as a vector has lanes: {v:i1} is any other type, {k:i1 0} a constant of it, {e}
the type of the operand in one lane, {h} the suffix on f32. Rows of atomic operations name no lanes: they are one
thread's. What is filled in twice, first types and then names, has its own braces four times.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from functools import cache

from sim_node.compiler.ir.function import Attr
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import Kind, Scalar, float16, float32, float64

TYPES = {
    "bool": "i1", "i8": "i8", "u8": "i8", "i16": "i16", "u16": "i16", "i32": "i32", "u32": "i32", "i64": "i64",
    "u64": "i64", "f16": "half", "f32": "float", "f64": "double", "ptr": "ptr",
}  # fmt: skip
# The one NaN: quiet, positive, no payload; its bits by width.
NAN = {16: 0x7E00, 32: 0x7FC00000, 64: 0x7FF8000000000000}

_CALL1 = "{r} = call {t} @llvm.%s.{s}({t} {0})"
_CALL2 = "{r} = call {t} @llvm.%s.{s}({t} {0}, {t} {1})"
_TWO = "{r} = %s {t} {0}, {1}"
_SHIFT = "{r}.n = and {t} {1}, {k:{e} {mask}}\n{r} = %s {t} {0}, {r}.n"
# minimumNumber and maximumNumber: the lesser or greater, of zeros the one whose sign wins, and a number before NaN.
# Not llvm.minimumnum: LLVM 22 gives NaN on x86 with AVX-512DQ where it knows that one operand is a number.
_EXTREME = (
    "{r}.c = fcmp %s {t} {0}, {1}\n{r}.m = select {v:i1} {r}.c, {t} {0}, {t} {1}\n"
    "{r}.a = bitcast {t} {0} to {v:i{bits}}\n{r}.b = bitcast {t} {1} to {v:i{bits}}\n"
    "{r}.s = %s {v:i{bits}} {r}.a, {r}.b\n{r}.z = bitcast {v:i{bits}} {r}.s to {t}\n"
    "{r}.e = fcmp oeq {t} {0}, {1}\n"
    "{r}.n = select {v:i1} {r}.e, {t} {r}.z, {t} {r}.m\n{r}.u = fcmp uno {t} {1}, {1}\n"
    "{r} = select {v:i1} {r}.u, {t} {0}, {t} {r}.n"
)
# The bits of a float. The choice is made between integers: between floats LLVM may drop it, one NaN being as good as
# another to it (it does so for a square root).
CANONICAL = (
    "{r}.u = fcmp uno {t} {0}, {0}\n{r}.w = bitcast {t} {0} to {v:i{bits}}\n"
    "{r} = select {v:i1} {r}.u, {v:i{bits}} {k:i{bits} {nan}}, {v:i{bits}} {r}.w"
)

ROWS: dict[Op, dict[str, str]] = {
    Op.ADD: {"iu": _TWO % "add", "f": _TWO % "fadd"},
    Op.SUB: {"iu": _TWO % "sub", "f": _TWO % "fsub"},
    Op.MUL: {"iu": _TWO % "mul", "f": _TWO % "fmul"},
    Op.DIV: {"f": _TWO % "fdiv"},
    Op.QUOT: {"i": _TWO % "sdiv", "u": _TWO % "udiv"},
    Op.REM: {"i": _TWO % "srem", "u": _TWO % "urem"},
    Op.NEG: {"iu": "{r} = sub {t} {k:{e} 0}, {0}", "f": "{r} = fneg {t} {0}"},
    Op.ABS: {
        "i": "{r} = call {t} @llvm.abs.{s}({t} {0}, i1 false)",
        "u": "{r} = add {t} {0}, {k:{e} 0}",
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
    Op.INVERT: {"biu": "{r} = xor {t} {0}, {k:{e} -1}"},
    Op.SHL: {"iu": _SHIFT % "shl"},
    Op.SHR: {"i": _SHIFT % "ashr", "u": _SHIFT % "lshr"},
    Op.EQ: {"biu": _TWO % "icmp eq", "f": _TWO % "fcmp oeq"},
    Op.NE: {"biu": _TWO % "icmp ne", "f": _TWO % "fcmp une"},
    Op.LT: {"i": _TWO % "icmp slt", "u": _TWO % "icmp ult", "f": _TWO % "fcmp olt"},
    Op.LE: {"i": _TWO % "icmp sle", "u": _TWO % "icmp ule", "f": _TWO % "fcmp ole"},
    Op.GT: {"i": _TWO % "icmp sgt", "u": _TWO % "icmp ugt", "f": _TWO % "fcmp ogt"},
    Op.GE: {"i": _TWO % "icmp sge", "u": _TWO % "icmp uge", "f": _TWO % "fcmp oge"},
    Op.SELECT: {"b": "{r} = select {v:i1} {0}, {rt} {1}, {rt} {2}"},
    Op.RAW: {"f": "{r} = bitcast {t} {0} to {rt}"},
    Op.BITCAST: {
        "iu": "{r} = bitcast {t} {0} to {rt}",
        "f": CANONICAL.replace("{r} =", "{r}.c =") + "\n{r} = bitcast {v:i{bits}} {r}.c to {rt}",
    },
}

_SATURATE = "{r} = call {rt} @llvm.%s.sat.{rs}.{s}({t} {0})"
_CONVERT = "{r} = %s {t} {0} to {rt}"
# (kind of operand, kind of result) → row; between types of one width see ``cast``.
_CASTS: dict[tuple[str, str], str] = {
    ("iu", "b"): "{r} = icmp ne {t} {0}, {k:{e} 0}",
    ("f", "b"): "{r} = fcmp une {t} {0}, {k:{e} 0.0}",
    ("b", "iu"): _CONVERT % "zext",
    ("bu", "f"): _CONVERT % "uitofp",
    ("i", "f"): _CONVERT % "sitofp",
    ("f", "i"): _SATURATE % "fptosi",
    ("f", "u"): _SATURATE % "fptoui",
    ("p", "u"): _CONVERT % "ptrtoint",
    ("p", "b"): "{r} = icmp ne {t} {0}, {k:{e} null}",
}
# By way of f32: LLVM 22 makes the least integer of an f16's NaN, on x86 with AVX512-FP16.
_FROM_HALF = "{r}.w = fpext {t} {0} to {v:float}\n{r} = call {rt} @llvm.%s.sat.{rs}.{h}({v:float} {r}.w)"
_WIDEN = {Kind.INT: "sext", Kind.UINT: "zext", Kind.FLOAT: "fpext"}


# To f16 through f32, where LLVM would call a library or round twice: of integers those above f32's digits are infinite
# in f16 anyway; a double is cut to the digits of f32, the last one set if any was lost (to odd), and so rounds once.
_INTEGER_TO_HALF = "{r}.f = %s {t} {0} to {v:float}\n{r} = fptrunc {v:float} {r}.f to {v:half}"
_DOUBLE_TO_HALF = (
    "{r}.b = bitcast {t} {0} to {v:i64}\n{r}.l = and {v:i64} {r}.b, {k:i64 536870911}\n"
    "{r}.z = icmp ne {v:i64} {r}.l, {k:i64 0}\n"
    "{r}.o = select {v:i1} {r}.z, {v:i64} {k:i64 536870912}, {v:i64} {k:i64 0}\n"
    "{r}.h = and {v:i64} {r}.b, {k:i64 -536870912}\n"
    "{r}.d = or {v:i64} {r}.h, {r}.o\n{r}.x = bitcast {v:i64} {r}.d to {v:double}\n"
    "{r}.f = fptrunc {v:double} {r}.x to {v:float}\n{r} = fptrunc {v:float} {r}.f to {v:half}"
)
# f16's fused operation in f64, where the product is exact, and the sum, too, wherever f16 could round it one way or the
# other: LLVM calls a library for it. What is rounded in f64 is a sum whose lesser part moves no digit of f16.
_FUSED_HALF = (
    "{r}.0 = fpext {t} {0} to {v:double}\n{r}.1 = fpext {t} {1} to {v:double}\n{r}.2 = fpext {t} {2} to {v:double}\n"
    "{r}.m = call {v:double} @llvm.fma.{d}({v:double} {r}.0, {v:double} {r}.1, {v:double} {r}.2)\n"
    + _DOUBLE_TO_HALF.replace("{t} {0}", "{v:double} {r}.m")
)
_INTEGER = {
    "add": "add", "sub": "sub", "min": "%smin", "max": "%smax", "and": "and", "or": "or", "xor": "xor", "exch": "xchg",
}  # fmt: skip
_CHANGE = "{r} = atomicrmw %s ptr {0}, {t} {1} monotonic, align {size}"
_SWAP = (
    "{r}.c = cmpxchg ptr {0}, %s {1}, %s {2} acq_rel monotonic, align {size}\n"
    "{r} = extractvalue {{{{ %s, i1 }}}} {r}.c, 0"
)
# The order of floats is that of their bits as signed integers, and the reverse where the sign is set. So one of two
# changes is made, and the other is of the value that changes nothing. NaN is turned into bits that change nothing.
# A NaN in memory is no number, so the value takes its place first; no NaN comes back.
_EXTREME_BITS = (
    "{r}.u = fcmp uno {t} {1}, {1}\n{r}.w = bitcast {t} {1} to i{bits}\n"
    "{r}.l = load atomic i{bits}, ptr {0} monotonic, align {size}\n{r}.f = bitcast i{bits} {r}.l to {t}\n"
    "{r}.v = fcmp uno {t} {r}.f, {r}.f\n{r}.k = xor i1 {r}.u, true\n{r}.g = and i1 {r}.v, {r}.k\n"
    "{r}.d = select i1 {r}.g, i{bits} {r}.w, i{bits} {r}.l\n"
    "{r}.x = cmpxchg ptr {0}, i{bits} {r}.l, i{bits} {r}.d monotonic monotonic, align {size}\n"
    "{r}.y = extractvalue {{{{ i{bits}, i1 }}}} {r}.x, 1\n{r}.z = and i1 {r}.v, {r}.y\n"
    "{r}.c = select i1 {r}.u, i{bits} %s, i{bits} {r}.w\n{r}.n = icmp slt i{bits} {r}.c, 0\n"
    "{r}.p = select i1 {r}.n, i{bits} %s, i{bits} {r}.c\n{r}.q = select i1 {r}.n, i{bits} {r}.c, i{bits} %s\n"
    "{r}.1 = atomicrmw %s ptr {0}, i{bits} {r}.p monotonic, align {size}\n"
    "{r}.2 = atomicrmw %s ptr {0}, i{bits} {r}.q monotonic, align {size}\n"
    "{r}.b = select i1 {r}.n, i{bits} {r}.2, i{bits} {r}.1\n{r}.o = select i1 {r}.z, i{bits} {r}.l, i{bits} {r}.b\n"
    "{r} = bitcast i{bits} {r}.o to {t}"
)


def atomic(name: str, kind: Scalar) -> str:
    """Pick the row of an atomic operation on a scalar; it orders nothing but itself, and cas also what it guards."""
    if not kind.is_float:
        if name == "cas":
            return _SWAP % (("{t}",) * 3)
        word = _INTEGER[name]
        return _CHANGE % (word % ("" if kind.kind is Kind.INT else "u") if "%" in word else word)
    top = 1 << (kind.bits - 1)
    if name == "min":
        return _EXTREME_BITS % (NAN[kind.bits], top - 1, 0, "min", "umax")
    if name == "max":
        return _EXTREME_BITS % (NAN[kind.bits] - top, -top, -1, "max", "umin")
    if name == "cas":
        asked = "{r}.x = bitcast {t} {1} to i{bits}\n{r}.y = bitcast {t} {2} to i{bits}\n"
        swap = "{r}.c = cmpxchg ptr {0}, i{bits} {r}.x, i{bits} {r}.y acq_rel monotonic, align {size}\n"
        return asked + swap + "{r}.o = extractvalue {{{{ i{bits}, i1 }}}} {r}.c, 0\n{r} = bitcast i{bits} {r}.o to {t}"
    return _CHANGE % {"add": "fadd", "sub": "fsub", "exch": "xchg"}[name]


class _Each:
    """A type, as many times as a vector has lanes."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes

    def __format__(self, kind: str) -> str:
        return f"<{self.lanes} x {kind}>" if self.lanes else kind


class _Same(_Each):
    """A constant, after its type: the same in each lane."""

    def __format__(self, typed: str) -> str:
        return f"splat ({typed})" if self.lanes else typed.split(" ", 1)[1]


def fill(row: str, name: str, source: Scalar, result: Scalar, operands: Sequence[str], lanes: int = 0) -> Iterator[str]:
    """Write a row's lines, for one thread or for the lanes of a vector."""
    text = _typed(row, source, result, lanes).format(*operands, r=name)
    yield from (f"  {line}" for line in text.split("\n"))


@cache
def _typed(row: str, source: Scalar, result: Scalar, lanes: int) -> str:
    """Fill in all of a row but names."""
    each = _Each(lanes)
    return row.format(
        *("{0}", "{1}", "{2}"),
        r="{r}",
        t=format(each, TYPES[source.name]),
        s=suffix(source, lanes),
        rt=format(each, TYPES[result.name]),
        rs=suffix(result, lanes),
        e=TYPES[source.name],
        h=suffix(float32, lanes),
        d=suffix(float64, lanes),
        v=each,
        k=_Same(lanes),
        bits=source.bits,
        size=source.size,
        mask=source.bits - 1,
        nan=NAN.get(source.bits),
    )


def suffix(kind: Scalar, lanes: int = 0) -> str:
    """The ending of intrinsics on a type."""
    return f"{f'v{lanes}' if lanes else ''}{'f' if kind.is_float else 'i'}{kind.bits}"


@cache
def row(op: Op, source: Scalar, result: Scalar) -> str:
    """Pick the row of an op for the type of its first operand."""
    if op is Op.CAST:
        return _cast(source, result)
    if op is Op.FMA and source is float16:
        return _FUSED_HALF
    return next(line for kinds, line in ROWS[op].items() if source.kind.value in kinds)


def _cast(source: Scalar, result: Scalar) -> str:
    if source.bits == 16 and source.is_float and result.is_integer:
        return _FROM_HALF % ("fptosi" if result.kind is Kind.INT else "fptoui")
    if result is float16 and source is float64:
        return _DOUBLE_TO_HALF
    if result is float16 and not source.is_float:
        return _INTEGER_TO_HALF % ("sitofp" if source.kind is Kind.INT else "uitofp")
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
    if kind.kind is Kind.POINTER:
        return "null"  # no other address is known at build
    if not kind.is_float:
        return str(attr)
    number = float(attr)  # type: ignore[arg-type]
    if kind.bits == 16:
        return f"0xH{NAN[16] if number != number else struct.unpack('<H', struct.pack('<e', number))[0]:04X}"
    # LLVM writes a float as the double of its value.
    return f"0x{NAN[64] if number != number else struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
