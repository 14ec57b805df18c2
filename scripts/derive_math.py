"""Derive the coefficients of the math library and write them, and docs/math.md: ``python scripts/derive_math.py``.

Needs the extra ``test`` (mpmath). A polynomial interpolates its function at the Chebyshev nodes of its interval, which
costs at most a bit or two against the best one of its degree and is the same on every machine; constants whose products
must be exact are cut to the bits named here. What the docs say of proofs is what ``scripts/prove_math.py`` saved.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
from mpmath import mp

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "sim_node" / "lang" / "library" / "coefficients.py"
PAGE = ROOT / "docs" / "math.md"
PROOFS = ROOT / "docs" / "measurements" / "math_proofs.json"
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


def series(term: Callable[[int, Any], Any], terms: int) -> Real:
    """Sum the first terms of a series."""
    return lambda x: sum(term(n, x) for n in range(terms))


# The reciprocals that bring a significand of 2^-3/8 … 2^5/8 close to 1, and the edges between them.
CENTRES = (-1, 0, 1, 2)  # quarters of an octave
EDGES = [mp.power(2, (2 * mp.mpf(centre) + 1) / 8) for centre in (-2, *CENTRES)]


def cut(value: Any, unit: int) -> Any:
    """Round to a multiple of 2^unit."""
    return mp.nint(mp.ldexp(value, -unit)) * mp.ldexp(1, unit)


def split(value: Any, unit: int) -> tuple[float, float]:
    """A head that is a multiple of 2^unit, and the rest."""
    head = cut(value, unit)
    return float(head), float(value - head)


RECIPROCALS = [cut(mp.power(2, -mp.mpf(centre) / 4), -5) for centre in CENTRES]
_NEAR_ONE = [edge * reciprocal - 1 for edges in (EDGES, EDGES[1:]) for edge, reciprocal in zip(edges, RECIPROCALS)]
_EXP_BOUND = mp.log(2) / 2 + mp.ldexp(1, -20)
_SIN_BOUND = (mp.pi / 4 * (1 + mp.ldexp(1, -8))) ** 2
_ASIN_BOUND = mp.mpf(1) / 4 + mp.ldexp(1, -20)
_ATAN_BOUND = mp.tan(mp.pi / 8) ** 2 + mp.ldexp(1, -20)

APPROXIMATIONS = {
    "EXP": Approximation(
        10, -_EXP_BOUND, _EXP_BOUND, series(lambda n, r: r**n / mp.factorial(n + 3), 60), lambda r: r**3 / mp.exp(r)
    ),
    "LOG": Approximation(
        12, min(_NEAR_ONE), max(_NEAR_ONE), series(lambda n, z: (-z) ** n / (n + 3), 400), lambda z: z**3 / mp.log1p(z)
    ),
    "SIN": Approximation(
        7, 0, _SIN_BOUND, series(lambda n, y: (-1) ** (n + 1) * y**n / mp.factorial(2 * n + 3), 60),
        lambda y: y**1.5 / mp.sin(mp.sqrt(y)),
    ),
    "COS": Approximation(
        7, 0, _SIN_BOUND, series(lambda n, y: (-1) ** n * y**n / mp.factorial(2 * n + 4), 60),
        lambda y: y**2 / mp.cos(mp.sqrt(y)),
    ),
    "ASIN": Approximation(14, 0, _ASIN_BOUND, lambda y: (mp.asin(mp.sqrt(y)) / mp.sqrt(y) - 1) / y, lambda y: y),
    "ATAN": Approximation(14, 0, _ATAN_BOUND, lambda y: (mp.atan(mp.sqrt(y)) / mp.sqrt(y) - 1) / y, lambda y: y),
}  # fmt: skip


def exponential() -> Iterator[tuple[str, Any]]:
    """exp(r) = 1 + r + r²/2 + r³·q(r) for |r| ≤ ln(2)/2."""
    yield "LOG2_E", float(1 / mp.log(2))
    # |k| < 2^8 times 44 bits is exact
    yield "LN2_HEAD", split(mp.log(2), -43)[0]
    yield "LN2_TAIL", split(mp.log(2), -43)[1]
    # 24 bits of an f32 times 29 bits are exact
    yield "LN2_SHORT", split(mp.log(2), -29)[0]
    yield "LN2_REST", split(mp.log(2), -29)[1]
    yield "EXP", APPROXIMATIONS["EXP"].coefficients()


def logarithm() -> Iterator[tuple[str, Any]]:
    """log(1+z) = z - z²/2 + z³·q(z) for |z| < 1/8."""
    yield "EDGES", [float(edge) for edge in EDGES[1:-1]]
    yield "RECIPROCALS", [float(value) for value in RECIPROCALS]
    yield "LOG", APPROXIMATIONS["LOG"].coefficients()
    for name, base in (("LN", mp.e), ("LB", mp.mpf(2)), ("LG", mp.mpf(10))):
        scale = 1 / mp.log(base)
        # |k| < 2^8 times 45 bits is exact, and so is adding a multiple of the same unit
        heads = [split(-mp.log(value) * scale, -43) for value in RECIPROCALS]
        yield f"{name}_CENTRE_HEAD", [head for head, _ in heads]
        yield f"{name}_CENTRE_TAIL", [tail for _, tail in heads]
        yield f"{name}_OCTAVE_HEAD", split(mp.log(2) * scale, -43)[0]
        yield f"{name}_OCTAVE_TAIL", split(mp.log(2) * scale, -43)[1]
        # 26 bits of z times 27 bits are exact, and so are 24 bits of a square
        yield f"{name}_SCALE_HEAD", split(scale, -25)[0]
        yield f"{name}_SCALE_TAIL", split(scale, -25)[1]


# Arguments from 2^(16·band + 26) to 2^(16·band + 42) are multiples of 2^(16·band); the first band starts at 0.
BANDS = 7
BAND = 16


def trigonometry() -> Iterator[tuple[str, Any]]:
    """sin(z) = z + z³·q(z²) and cos(z) = 1 - z²/2 + z⁴·q(z²) for |z| ≤ π/4."""
    heads: list[float] = []
    middles: list[float] = []
    tails: list[float] = []
    for band in range(BANDS):
        # an argument of a band above the first is a multiple of 2^(16·band): what gives whole turns falls away
        turns = 2 / mp.pi * mp.ldexp(1, BAND * band)
        turns -= 4 * mp.nint(turns / 4)
        head = cut(turns, -27)
        middle = cut(turns - head, -56)
        for values, value in ((heads, head), (middles, middle), (tails, turns - head - middle)):
            values.append(float(mp.ldexp(value, -BAND * band)))
    yield "BAND_STARTS", [2.0 ** (BAND * band + 26) for band in range(1, BANDS)]
    yield "TURN_HEAD", heads
    yield "TURN_MIDDLE", middles
    yield "TURN_TAIL", tails
    yield "QUARTER_HEAD", split(mp.pi / 2, -27)[0]
    yield "QUARTER_TAIL", split(mp.pi / 2, -27)[1]
    yield "SIN", APPROXIMATIONS["SIN"].coefficients()
    yield "COS", APPROXIMATIONS["COS"].coefficients()


def inverse() -> Iterator[tuple[str, Any]]:
    """asin(t) = t + t³·q(t²) for |t| ≤ 1/2 and atan(t) = t + t³·q(t²) for |t| ≤ tan(π/8)."""
    yield "HALF_PI", split(mp.pi / 2, -52)
    yield "QUARTER_PI", split(mp.pi / 4, -53)
    yield "ASIN", APPROXIMATIONS["ASIN"].coefficients()
    yield "ATAN", APPROXIMATIONS["ATAN"].coefficients()


def table() -> str:
    """The text of the table."""
    lines = [_HEAD]
    for part in (exponential, logarithm, trigonometry, inverse):
        lines.append(f"\n# {(part.__doc__ or '').strip()}\n")
        for name, value in part():
            if isinstance(value, float):
                lines.append(f"{name} = {value!r}\n")
            else:
                rows = "".join(f"    {number!r},\n" for number in value)
                lines.append(f"{name} = (\n{rows})\n")
    return "".join(lines)


_EXP = "x = k·ln 2 + r in two parts; e^r = 1 + r + r²/2 + r³·q(r), the first three without error"
_LOG = "x = 2^k·m, m = (1 + z)/c with c one of four reciprocals and z exact; z − z²/2 + z³·q(z)"
_TRIG = "quarter turns taken off with the bits of 2/π that the argument's size needs (Payne–Hanek), in two parts"
_ROOT = "beyond ½ through the root of (1 − x)/2, whose remainder is exact"
# function → how it is computed, and with which polynomials
METHODS: dict[str, tuple[str, tuple[str, ...]]] = {
    "exp": (_EXP, ("EXP",)),
    "exp2": ("as exp, of r·ln 2 in two parts", ("EXP",)),
    "expm1": ("as exp; the 1 is taken off without error", ("EXP",)),
    "log": (_LOG, ("LOG",)),
    "log2": ("as log; the scaled leading terms without error", ("LOG",)),
    "log10": ("as log2", ("LOG",)),
    "log1p": ("as log, of 1 + x in two parts", ("LOG",)),
    "sin": (_TRIG, ("SIN", "COS")),
    "cos": ("as sin", ("SIN", "COS")),
    "tan": ("sine over cosine, with the remainder of the division", ("SIN", "COS")),
    "asin": (_ROOT, ("ASIN",)),
    "acos": ("as asin", ("ASIN",)),
    "atan": ("of x, (x − 1)/(x + 1) or −1/x, with the remainder of the division", ("ATAN",)),
    "sinh": ("e^x and e^−x, added without error", ("EXP",)),
    "cosh": ("as sinh", ("EXP",)),
    "tanh": ("sinh over cosh, with the remainder of the division", ("EXP",)),
    "cbrt": ("two steps of Halley's, and the exact remainder of the cube", ()),
}

_PAGE = """# Math

Written by `scripts/derive_math.py`.

`sn.sin(x)` and the others below take an `f32` and give the `f32` nearest to the true value, **for every one of the
2^32 inputs**: their bits are defined by mathematics, and no processor, compiler or version can change them. Results
that are subnormal, zero or infinite are right too; NaN gives NaN, and so do arguments outside of the domain.
Functions of `f64` come later: such an argument is refused.

How: in `f64` by addition and multiplication (in some a division or root), never contracted, the same text for every
target. A result is the sum of a large part that is exact and a small one, and is rounded once: the sum goes to odd in
`f64`, and that to `f32`. There is no table in memory and no branch, so loops stay vectorised.

Proof: `python scripts/prove_math.py NAME` runs the compiled kernel on all 2^32 inputs. What is right is found
independently: by numpy's f64 function, where moving it by 2^-44 of itself either way changes no `f32` (on a sample it
is checked against MPFR to be within 2^-48), and by MPFR for all other inputs; of a function that is odd or even, one
answer serves both signs. *Polynomial* is the degree and the greatest error that it brings into a result, relative to
that; *nearest* is how close to a boundary between two `f32` the hardest input comes, relative to the value.

| function | method | polynomial | decided by MPFR | nearest | misrounded of 2^32 |
|---|---|---|---|---|---|
"""


def page() -> str:
    """The text of docs/math.md."""
    proofs = json.loads(PROOFS.read_text("utf-8"))
    rows = []
    for name, (method, parts) in METHODS.items():
        proof = proofs.get(name)
        polynomials = "; ".join(
            f"{APPROXIMATIONS[part].degree}, {_power(APPROXIMATIONS[part].error())}" for part in parts
        )
        found = (
            f"{proof['decided']} | {_power(proof['nearest'])} | {proof['misrounded']}" if proof else "– | – | not run"
        )
        rows.append(f"| `{name}` | {method} | {polynomials or '–'} | {found} |\n")
    return _PAGE + "".join(rows)


def _power(value: Any) -> str:
    return f"2^{float(mp.log(value, 2)):.1f}"


def main() -> None:
    """Write the table and the page."""
    TABLE.write_text(table(), "utf-8")
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
