"""What ``scripts/compare_devices.py`` runs: an expression of the kernel language, in a kernel that hashes results.

A case is an expression of operands ``a``, ``b``, … and the types of those. Input number n gives them their bits:
all that there are, in an order of their own, of one operand of up to 32 bits or of several of 16 in all; otherwise
random ones, among them special values, neighbours of these and of the operand before, and numbers around 1.
"""

# mypy: disable-error-code="valid-type, untyped-decorator, no-untyped-def, no-redef, no-any-return"
# (kernels are typed in the kernel language)

from __future__ import annotations

import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import sim_node as sn

SPECIALS = 64
DRAWN = 20 * 2**20  # inputs of a case whose operands are random
_PHI, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # src/hash.h
_SPREAD = 0x9E3779B1  # odd, so that products with it are a permutation of 32, 16 and 8 bits
_SEED = 0x5EED


@sn.func
def mixed(word: sn.uint64, at: sn.uint64):
    """What a word counts in a hash, src/hash.h."""
    z = word + (at + sn.uint64(1)) * sn.uint64(_PHI)
    z = (z ^ (z >> sn.uint64(30))) * sn.uint64(_FIRST)
    z = (z ^ (z >> sn.uint64(27))) * sn.uint64(_SECOND)
    return z ^ (z >> sn.uint64(31))


@sn.func
def word(x: sn.float16):
    """Bits of a number, with zeros above those of a float and of the sign above those of an integer."""
    return sn.uint64(sn.cast(x, sn.uint16))


@sn.func
def word(x: sn.float32):
    return sn.uint64(sn.cast(x, sn.uint32))


@sn.func
def word(x: sn.float64):
    return sn.cast(x, sn.uint64)


@sn.func
def word(x: sn.Int):
    return sn.uint64(x)


@sn.func
def word(x: bool):
    return sn.uint64(1) if x else sn.uint64(0)


@sn.func
def told(result: sn.Scalar, at: sn.uint64):
    """Mix a result, part by part: of result number n, part i of it is at 8·n + i, and so on for its parts."""
    return mixed(word(result), at)


@sn.func
def told(result: bool, at: sn.uint64):
    return mixed(word(result), at)


@sn.func
def told(result: Any, at: sn.uint64):
    total = sn.uint64(0)
    for i in range(len(result)):
        total += told(result[i], at * sn.uint64(8) + sn.uint64(i))
    return total


@sn.func
def put(result: sn.Scalar, at: int, out: sn.array(dtype=sn.uint64)):
    """Write the words of a result to an array; the index behind the last."""
    out[at] = word(result)
    return at + 1


@sn.func
def put(result: bool, at: int, out: sn.array(dtype=sn.uint64)):
    out[at] = word(result)
    return at + 1


@sn.func
def put(result: Any, at: int, out: sn.array(dtype=sn.uint64)):
    for i in range(len(result)):
        at = put(result[i], at, out)
    return at


@sn.func
def drawn(h: sn.uint64, special: sn.uint64, before: sn.uint64, mask: sn.uint64, offset: sn.uint64, calm: bool):
    """Bits of a random operand: of any, of a special value or next to one or to the operand before, or around 1."""
    kind, little = h >> sn.uint64(61), (h & sn.uint64(7)) - sn.uint64(3)
    bits = (h & mask) + offset
    if not calm:
        if kind == sn.uint64(0):
            bits = special
        elif kind == sn.uint64(1):
            bits = special + little
        elif kind == sn.uint64(2):
            bits = before + little
        elif kind > sn.uint64(4):
            bits = h
    return bits


@sn.func
def divisor(a: Any, b: Any):
    """``b``, or 7 where a // b stops the thread."""
    return type(b)(7) if b == type(b)(0) or (b + type(b)(1) == type(b)(0) and a == -a) else b


def _of_floats(name: str) -> tuple[int, ...]:
    kind = np.dtype(name)
    info, whole = np.finfo(name), np.dtype(f"uint{8 * kind.itemsize}")
    one = float(info.eps)
    values = [0.0, 0.5, 1.0, 1 + one, 1 - one / 2, 2.0, 3.0, 1 / 3, float(np.pi), float(np.pi / 2), float(np.e), 10.0]
    values += [float(info.max), float(info.tiny), float(info.smallest_subnormal), float(info.tiny) * (1 - one), np.inf]
    values += [2.0**power for power in (7, 8, 11, 15, 16, 23, 24, 31, 32, 52, 53, 63, 64)]
    with np.errstate(over="ignore"):
        both = np.array([*values, *(-value for value in values), np.nan]).astype(kind)
    return tuple(both.view(whole).tolist())


def _of_integers(name: str) -> tuple[int, ...]:
    info = np.iinfo(name)
    bits = info.bits
    values = [0, 1, 2, 3, 5, 7, 10, -1, -2, -3, -7, info.min, info.min + 1, info.max, info.max - 1, bits - 1, bits]
    values += [sign << power for power in range(3, bits, max(1, bits // 16)) for sign in (1, -1)]
    return tuple(value % 2**bits for value in values)


@dataclass(frozen=True)
class Number:
    """A scalar type: name in the language, bits, which of random ones make a number around 1, special values."""

    name: str
    bits: int
    mask: int
    offset: int
    specials: tuple[int, ...]

    @property
    def is_float(self) -> bool:
        """Whether it is a float."""
        return self.name.startswith("float")

    def made(self, bits: str) -> str:
        """The expression for a number of bits in an u64."""
        return f"sn.cast(sn.uint{self.bits}({bits}), sn.{self.name})" if self.is_float else f"sn.{self.name}({bits})"


def _float(bits: int, fraction: int) -> Number:
    bias = (1 << (bits - fraction - 2)) - 1
    name = f"float{bits}"
    return Number(name, bits, 1 << (bits - 1) | (8 << fraction) - 1, (bias - 4) << fraction, _of_floats(name))


NUMBERS = {f"f{bits}": _float(bits, fraction) for bits, fraction in ((16, 10), (32, 23), (64, 52))} | {
    f"{letter}{bits}": Number(name, bits, 63, -32 % 2**64 if letter == "i" else 0, _of_integers(name))
    for letter, sign in (("i", ""), ("u", "u"))
    for bits in (8, 16, 32, 64)
    for name in [f"{sign}int{bits}"]
}
# how many numbers a composite operand has, and how it is made of them
_COMPOSITES = {
    **{f"V{n}": (n, "sn.vector({})") for n in (2, 3, 4, 6)},
    **{f"M{n}": (n * n, f"sn.matrix({{}}, shape=({n}, {n}))") for n in (2, 3, 4)},
    "Q": (4, "sn.quaternion({})"),
    "T": (7, "sn.transformation(sn.vector({}, {}, {}), sn.quaternion({}, {}, {}, {}))"),
}


@dataclass(frozen=True)
class Case:
    """An expression, and the types of its operands: names of ``NUMBERS``, or of ``_COMPOSITES``, made of ``number``.

    Before the expression, statements may stand, each with a semicolon behind it. ``options`` are those of the kernel.
    """

    name: str
    operands: tuple[str, ...]
    expression: str
    number: Number
    options: str = ""

    @property
    def parts(self) -> list[Number]:
        """Each number that the operands are made of."""
        return [
            number
            for kind in self.operands
            for number in [NUMBERS.get(kind, self.number)] * _COMPOSITES.get(kind, (1, ""))[0]
        ]

    @property
    def inputs(self) -> int:
        """How many inputs there are: all, or as many random ones as are drawn."""
        return 2 ** sum(number.bits for number in self.parts) if self.exhaustive else DRAWN

    @property
    def exhaustive(self) -> bool:
        """Whether all inputs that there are are compared."""
        bits = [number.bits for number in self.parts]
        return sum(bits) <= 16 or (len(bits) == 1 and bits[0] <= 32)

    @property
    def specials(self) -> list[int]:
        """Bits of special values, of which there are ``SPECIALS``."""
        values = self.number.specials
        return [values[i % len(values)] for i in range(SPECIALS)]

    def drawing(self) -> Iterator[str]:
        """Lines that make the operands of input n."""
        if self.exhaustive:
            yield f"x0 = n * sn.uint64({_SPREAD})"
        else:
            yield "before = sn.uint64(0)"
        for i, number in enumerate(self.parts):
            if self.exhaustive:
                yield f"x{i + 1} = x{i} >> sn.uint64({number.bits})"
                continue
            # with more than three numbers a special one decides alone what comes out, so most inputs have none
            calm = "(n & sn.uint64(7)) != sn.uint64(0)" if len(self.parts) > 3 else "False"
            yield f"h = mixed(sn.uint64({_SEED}), n * sn.uint64(64) + sn.uint64({i}))"
            yield (
                f"x{i} = drawn(h, special[sn.int32(h >> sn.uint64(32)) & {SPECIALS - 1}], before, "
                f"sn.uint64({number.mask}), sn.uint64({number.offset}), {calm})"
            )
            yield f"before = x{i}"
        made, at = [number.made(f"x{i}") for i, number in enumerate(self.parts)], 0
        for name, kind in zip("abcdefgh", self.operands):
            count, form = _COMPOSITES.get(kind, (1, "{}"))
            form = form if form.count("{}") == count else form.format(", ".join(["{}"] * count))
            yield f"{name} = {form.format(*made[at : at + count])}"
            at += count

    def text(self) -> str:
        """Text of the kernels: one hashes results, and one writes what the operands and the result of an input are."""
        *statements, expression = self.expression.split("; ")
        names = "".join(f"{name}, " for name in "abcdefgh"[: len(self.operands)])
        return _TEXT.format(
            options=f"({self.options})" if self.options else "",
            drawing="\n        ".join([*self.drawing(), *statements]),
            once="\n    ".join(self.drawing()),
            statements="\n    ".join(statements) or "pass",
            expression=expression,
            operands=f"({names})",
        )


_TEXT = """
@sn.kernel{options}
def hashed(first: sn.uint64, threads: sn.uint64, each: int, special: sn.array(dtype=sn.uint64),
           rising: sn.array(dtype=float), sums: sn.array(dtype=sn.uint64)):
    i = sn.tid()
    n = first + sn.uint64(i)
    total = sn.uint64(0)
    for _ in range(each):
        {drawing}
        total += told({expression}, n)
        n += threads
    sums[i] = total


@sn.kernel{options}
def shown(n: sn.uint64, special: sn.array(dtype=sn.uint64), rising: sn.array(dtype=float),
          out: sn.array(dtype=sn.uint64), counts: sn.array(dtype=int)):
    {once}
    at = put({operands}, 0, out)
    counts[0] = at
    {statements}
    counts[1] = put({expression}, at, out)
"""


@cache
def kernels(case: Case) -> tuple[Any, Any]:
    """The kernels of a case."""
    file, text = f"<{case.name}>", case.text()
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = dict(globals())
    exec(compile(text, file, "exec"), names)
    return names["hashed"], names["shown"]
