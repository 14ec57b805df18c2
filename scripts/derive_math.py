"""Derive the coefficients of the math library and write them: ``python scripts/derive_math.py``.

Needs the extra ``test`` (mpmath). A polynomial interpolates its function at the Chebyshev nodes of its interval, which
costs at most a bit or two against the best one of its degree and is the same on every machine; constants whose products
must be exact are cut to the bits named here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "sim_node" / "lang" / "library" / "coefficients.py"
mp.prec = 500

_HEAD = '''"""Coefficients of the math library, written by ``scripts/derive_math.py``: change them there."""

# fmt: off
'''
Real = Callable[[Any], Any]


@dataclass(frozen=True)
class Approximation:
    """A polynomial of ``degree`` in a variable from ``low`` to ``high``; ``share`` is its part of the result."""

    degree: int
    low: Any
    high: Any
    function: Real
    share: Real

    @cache  # noqa: B019 (there are six, for as long as the script runs)
    def coefficients(self) -> list[float]:
        """The polynomial through the Chebyshev nodes, rounded to f64, the constant first."""
        middle, half = (mp.mpf(self.high) + self.low) / 2, (mp.mpf(self.high) - self.low) / 2
        count = self.degree + 1
        nodes = [middle + half * mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]
        powers = mpmath.matrix([[node**power for power in range(count)] for node in nodes])
        return [float(value) for value in mpmath.lu_solve(powers, mpmath.matrix([self.function(x) for x in nodes]))]

    def error(self) -> Any:
        """The greatest error that it brings into the result, relative to that, on 60 points."""
        worst = mp.mpf(0)
        for i in range(60):
            x = self.low + (self.high - self.low) * (mp.mpf(i) + mp.mpf("0.5")) / 60
            near = sum(coefficient * x**power for power, coefficient in enumerate(self.coefficients()))
            worst = max(worst, abs((near - self.function(x)) * self.share(x)))
        return worst


# What the size of coefficients grows by, in units of their last place, by name in the table. It is below what rounding
# them loses, and was found by trial: with it the few inputs whose results lie within 2^-53 of a boundary fall on its
# right side.
NUDGES: dict[str, tuple[int, ...]] = {
    "SIN": (0, -2, -1, -3, -2, 1, 2, 0, 1),
    "COS_SHIFTED": (1, 2, -2, -2, -1, 3, 2, 1, -3),
    "LOG": (-1, 1, -2, -3, 3, -2, 1, 3, 1, -2, 0, 1, -1, 3),
    "LN_CENTRE": (1,),
}


# Inputs, by their bits, whose results lie so near to a boundary that the function decides for the wrong side.
EXCEPTIONS: dict[str, tuple[int, ...]] = {
    "exp2": (0x3B429D37, 0xBCF3A937),
    "sinh": (0x3A1285FF, 0xBA1285FF),
    "log10": (0x120B93DC, 0x13AE78D3, 0x610567E4, 0x62A6C1DD),
    "log1p": (0x3EBE9143, 0x3EFD81AD, 0xB53FFFFD, 0xB70FFFE5),
    "acos": (0x328885A3, 0x39826222),
    "atan": (0x3D8D6B23,),
}
_EXACT: dict[str, Real] = {
    "exp2": lambda x: mp.power(2, x), "sinh": mp.sinh, "log10": mp.log10, "log1p": mp.log1p, "acos": mp.acos,
    "atan": mp.atan,
}  # fmt: skip


def exceptions() -> Iterator[tuple[str, Any]]:
    """Inputs that the functions round to the wrong side, each followed by the right result."""
    for name, inputs in EXCEPTIONS.items():
        values = [float(np.uint32(bits).view(np.float32)) for bits in inputs]
        pairs = [(x, _single(_EXACT[name](mp.mpf(x)))) for x in values]
        yield f"{name.upper()}_EXCEPTIONS", [number for pair in pairs for number in pair]


def _single(value: Any) -> float:
    """Round to f32, once."""
    scale = int(mp.floor(mp.log(abs(value), 2))) - 23
    return float(mp.ldexp(mp.nint(mp.ldexp(value, -scale)), scale))


def nudged(name: str, values: list[float]) -> list[float]:
    """Add what the table of nudges says."""
    units = NUDGES.get(name, (0,) * len(values))
    return [value + unit * math.copysign(math.ulp(value), value) for value, unit in zip(values, units, strict=True)]


def series(term: Callable[[int, Any], Any], terms: int) -> Real:
    """Sum the first terms of a series."""
    return lambda x: sum(term(n, x) for n in range(terms))


def cut(value: Any, unit: int) -> Any:
    """Round to a multiple of 2^unit."""
    return mp.nint(mp.ldexp(value, -unit)) * mp.ldexp(1, unit)


def split(value: Any, unit: int) -> tuple[float, float]:
    """A head that is a multiple of 2^unit, and the rest."""
    head = cut(value, unit)
    return float(head), float(value - head)


# What brings the upper half of an octave's significands, from 2^1/4 on, as near to 1 as the lower half is.
RECIPROCAL = mp.mpf(181) / 256
_NEAR_ONE = [mp.power(2, mp.mpf(-1) / 4) - 1 - mp.ldexp(1, -20), mp.power(2, mp.mpf(1) / 4) - 1 + mp.ldexp(1, -20)]
_HALF = mp.mpf(1) / 2 + mp.ldexp(1, -20)
_ASIN_BOUND = mp.mpf(1) / 4 + mp.ldexp(1, -20)
# erf(x) is 1 to 2^-25 from 3.95 on; 1 - erf is approximated from 1 to there.
ERF_MIDDLE = mp.mpf(2.5)
_FAR = mp.mpf(1.5)
_EXP_BOUND = mp.log(2) / 2 + mp.ldexp(1, -20)
_TURN_BOUND = (mp.pi / 4 + mp.ldexp(1, -10)) ** 2
_ATAN_BOUND = mp.tan(mp.pi / 8) ** 2 + mp.ldexp(1, -20)

APPROXIMATIONS = {
    "EXP2": Approximation(
        10, -_HALF, _HALF, series(lambda n, f: mp.log(2) ** (n + 1) * f**n / mp.factorial(n + 1), 60),
        lambda f: f / mp.power(2, f),
    ),
    "LOG": Approximation(
        13, _NEAR_ONE[0], _NEAR_ONE[1], series(lambda n, z: -((-z) ** n) / (n + 2), 400), lambda z: z**2 / mp.log1p(z)
    ),
    "SIN": Approximation(
        8, 0, _HALF**2, series(lambda n, s: (-1) ** n * mp.pi ** (2 * n + 1) * s**n / mp.factorial(2 * n + 1), 60),
        lambda s: mp.sqrt(s) / mp.sin(mp.pi * mp.sqrt(s)),
    ),
    "COS": Approximation(
        7, 0, _HALF**2 / 4, series(lambda n, s: (-1) ** (n + 1) * mp.pi ** (2 * n + 2) * s**n / mp.fac(2 * n + 2), 60),
        lambda s: s / mp.cos(mp.pi * mp.sqrt(s)),
    ),
    "ASIN": Approximation(14, 0, _ASIN_BOUND, lambda y: (mp.asin(mp.sqrt(y)) / mp.sqrt(y) - 1) / y, lambda y: y),
    "ATAN": Approximation(14, 0, _ATAN_BOUND, lambda y: (mp.atan(mp.sqrt(y)) / mp.sqrt(y) - 1) / y, lambda y: y),
    "ERF": Approximation(
        12, 0, 1, lambda s: mp.erf(mp.sqrt(s)) / mp.sqrt(s), lambda s: mp.sqrt(s) / mp.erf(mp.sqrt(s))
    ),
    "ERFC": Approximation(
        21, -_FAR, _FAR, lambda v: mp.erfc(v + ERF_MIDDLE) * mp.exp((v + ERF_MIDDLE) ** 2),
        lambda v: mp.exp(-((v + ERF_MIDDLE) ** 2)) / mp.erf(v + ERF_MIDDLE),
    ),
    "FAST_EXP": Approximation(
        4, -_EXP_BOUND, _EXP_BOUND, series(lambda n, r: r**n / mp.fac(n + 2), 60), lambda r: r**2 / mp.exp(r)
    ),
    "FAST_LOG": Approximation(
        8, mp.sqrt(2) / 2 - 1, mp.sqrt(2) - 1, series(lambda n, z: -((-z) ** n) / (n + 2), 400),
        lambda z: z**2 / mp.log1p(z),
    ),
    "FAST_SIN": Approximation(
        2, 0, _TURN_BOUND, series(lambda n, s: (-1) ** (n + 1) * s**n / mp.fac(2 * n + 3), 60),
        lambda s: s**1.5 / mp.sin(mp.sqrt(s)),
    ),
    "FAST_COS": Approximation(
        2, 0, _TURN_BOUND, series(lambda n, s: (-1) ** n * s**n / mp.fac(2 * n + 4), 60),
        lambda s: s**2 / mp.cos(mp.sqrt(s)),
    ),
}  # fmt: skip


def exponential() -> Iterator[tuple[str, Any]]:
    """e^x = 2^(x·log2(e)), and (2^f - 1)/f for |f| ≤ 1/2."""
    # 24 bits of an f32 times 29 bits are exact
    yield "LOG2_E_HEAD", split(1 / mp.log(2), -28)[0]
    yield "LOG2_E_TAIL", split(1 / mp.log(2), -28)[1]
    yield "EXP2", APPROXIMATIONS["EXP2"].coefficients()


def logarithm() -> Iterator[tuple[str, Any]]:
    """log(1+z) = z + z²·q(z) for z from 2^-1/4 - 1 to 2^1/4 - 1."""
    yield "RECIPROCAL", float(RECIPROCAL)
    yield "LOG", APPROXIMATIONS["LOG"].coefficients()
    for name, base in (("LN", mp.e), ("LB", mp.mpf(2)), ("LG", mp.mpf(10))):
        scale = 1 / mp.log(base)
        yield f"{name}_CENTRE", float(-mp.log(RECIPROCAL) * scale)
        if name != "LB":
            yield f"{name}_OCTAVE", float(mp.log(2) * scale)
        if name != "LN":
            yield f"{name}_SCALE", float(scale)


# Arguments from 2^(26·band + 24) to 2^(26·band + 50) are multiples of 2^(26·band + 1); the first band starts at 0.
BANDS = 4
BAND = 26


def trigonometry() -> Iterator[tuple[str, Any]]:
    """sin(π·t) = t·q(t²) for |t| ≤ 1/2 and cos(π·t) = 1 + t²·q(t²) for |t| ≤ 1/4."""
    heads: list[float] = []
    middles: list[float] = []
    tails: list[float] = []
    for band in range(BANDS):
        # what gives whole turns falls away
        unit = BAND * band + 1 if band else 0
        turns = mp.ldexp(1 / mp.pi, unit)
        turns -= 2 * mp.nint(turns / 2)
        # 24 bits of an f32 times 29 bits are exact
        head = cut(turns, -28)
        middle = cut(turns - head, -57)
        for values, value in ((heads, head), (middles, middle), (tails, turns - head - middle)):
            values.append(float(mp.ldexp(value, -unit)))
    yield "BAND_STARTS", [2.0 ** (BAND * band + 24) for band in range(1, BANDS)]
    yield "TURN_HEAD", heads
    yield "TURN_MIDDLE", middles
    yield "TURN_TAIL", tails
    yield "SIN", APPROXIMATIONS["SIN"].coefficients()
    yield "COS_SHIFTED", APPROXIMATIONS["SIN"].coefficients()  # for the cosine, as the sine of a quarter turn more
    yield "COS", APPROXIMATIONS["COS"].coefficients()


def inverse() -> Iterator[tuple[str, Any]]:
    """asin(t) = t + t³·q(t²) for |t| ≤ 1/2 and atan(t) = t + t³·q(t²) for |t| ≤ tan(π/8)."""
    yield "ASIN", APPROXIMATIONS["ASIN"].coefficients()
    yield "ATAN", APPROXIMATIONS["ATAN"].coefficients()


def error_function() -> Iterator[tuple[str, Any]]:
    """erf(x) = x·q(x²) up to 1, and (1 - erf(x))·e^(x²) = q(x - 5/2) for x from 1 to 4."""
    yield "ERF", APPROXIMATIONS["ERF"].coefficients()
    yield "ERFC", APPROXIMATIONS["ERFC"].coefficients()


def fast() -> Iterator[tuple[str, Any]]:
    """e^r = 1 + r + r²·q(r), log(1+z) = z + z²·q(z), sin(r) = r + r³·q(r²), cos(r) = 1 - r²/2 + r⁴·q(r²), for f32."""
    for name in ("FAST_EXP", "FAST_LOG", "FAST_SIN", "FAST_COS"):
        yield name, [_single(mp.mpf(value)) for value in APPROXIMATIONS[name].coefficients()]


def table() -> str:
    """The text of the table."""
    lines = [_HEAD]
    for part in (exponential, logarithm, trigonometry, inverse, error_function, fast, exceptions):
        lines.append(f"\n# {(part.__doc__ or '').strip()}\n")
        for name, value in part():
            if isinstance(value, float):
                lines.append(f"{name} = {nudged(name, [value])[0]!r}\n")
            else:
                rows = "".join(f"    {number!r},\n" for number in nudged(name, value))
                lines.append(f"{name} = (\n{rows})\n")
    return "".join(lines)


def main() -> None:
    """Write the table."""
    TABLE.write_text(table(), "utf-8")


if __name__ == "__main__":
    main()
