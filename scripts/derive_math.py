"""Derive the coefficients of the math library and write them: ``python scripts/derive_math.py [--check]``.

Needs the extra ``math`` (mpmath). A polynomial interpolates its function at the Chebyshev nodes of its interval, which costs at
most a bit or two against the best one of its degree and is the same on every machine; constants that a product must
hold exactly are cut to the bits named here.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mpmath
from mpmath import mp

TABLE = Path(__file__).parent.parent / "sim_node" / "lang" / "library" / "coefficients.py"
mp.prec = 500

_HEAD = '''"""Coefficients of the math library, written by ``scripts/derive_math.py``: change them there."""

# fmt: off
'''


def polynomial(function: Callable[[Any], Any], low: Any, high: Any, degree: int) -> list[float]:
    """Interpolate at the Chebyshev nodes of low … high; f64 coefficients, the constant first."""
    middle, half = (mp.mpf(high) + low) / 2, (mp.mpf(high) - low) / 2
    nodes = [middle + half * mp.cos(mp.pi * (2 * i + 1) / (2 * degree + 2)) for i in range(degree + 1)]
    powers = mpmath.matrix([[node**power for power in range(degree + 1)] for node in nodes])
    solved = mpmath.lu_solve(powers, mpmath.matrix([function(node) for node in nodes]))
    return [float(value) for value in solved]


def cut(value: Any, unit: int) -> Any:
    """Round to a multiple of 2^unit."""
    return mp.nint(mp.ldexp(value, -unit)) * mp.ldexp(1, unit)


def split(value: Any, unit: int) -> tuple[float, float]:
    """A head that is a multiple of 2^unit, and the rest."""
    head = cut(value, unit)
    return float(head), float(value - head)


def exponential() -> Iterator[tuple[str, Any]]:
    """exp(r) = 1 + r + r²/2 + r³·q(r) for |r| ≤ ln(2)/2."""
    yield "LOG2_E", float(1 / mp.log(2))
    # |k| < 2^8 times 44 bits is exact
    yield "LN2_HEAD", split(mp.log(2), -43)[0]
    yield "LN2_TAIL", split(mp.log(2), -43)[1]
    # 24 bits of an f32 times 29 bits are exact
    yield "LN2_SHORT", split(mp.log(2), -29)[0]
    yield "LN2_REST", split(mp.log(2), -29)[1]
    bound = mp.log(2) / 2 + mp.ldexp(1, -20)
    yield "EXP", polynomial(lambda r: sum(r**n / mp.factorial(n + 3) for n in range(60)), -bound, bound, 10)


# The reciprocals that bring a significand of 2^-3/8 … 2^5/8 close to 1, and the edges between them.
CENTRES = (-1, 0, 1, 2)  # quarters of an octave
RECIPROCALS = tuple(cut(mp.power(2, -mp.mpf(centre) / 4), -5) for centre in CENTRES)
EDGES = tuple(mp.power(2, (2 * mp.mpf(centre) + 1) / 8) for centre in CENTRES[:-1])


def logarithm() -> Iterator[tuple[str, Any]]:
    """log(1+z) = z - z²/2 + z³·q(z) for |z| < 1/8."""
    yield "EDGES", [float(edge) for edge in EDGES]
    yield "RECIPROCALS", [float(value) for value in RECIPROCALS]
    low = min(edge * reciprocal - 1 for edge, reciprocal in zip((mp.power(2, -mp.mpf(3) / 8), *EDGES), RECIPROCALS))
    high = max(edge * reciprocal - 1 for edge, reciprocal in zip((*EDGES, mp.power(2, mp.mpf(5) / 8)), RECIPROCALS))

    yield "LOG", polynomial(lambda z: sum((-z) ** n / (n + 3) for n in range(400)), low, high, 12)
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
    heads, middles, tails = [], [], []
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
    bound = mp.pi / 4 * (1 + mp.ldexp(1, -8))
    yield "SIN", polynomial(
        lambda y: sum((-1) ** (n + 1) * y**n / mp.factorial(2 * n + 3) for n in range(60)), 0, bound**2, 7
    )
    yield "COS", polynomial(
        lambda y: sum((-1) ** n * y**n / mp.factorial(2 * n + 4) for n in range(60)), 0, bound**2, 7
    )


def table() -> str:
    """The text of the table."""
    lines = [_HEAD]
    for part in (exponential, logarithm, trigonometry):
        lines.append(f"\n# {(part.__doc__ or '').strip()}\n")
        for name, value in part():
            if isinstance(value, float):
                lines.append(f"{name} = {value!r}\n")
            else:
                rows = "".join(f"    {number!r},\n" for number in value)
                lines.append(f"{name} = (\n{rows})\n")
    return "".join(lines)


def main() -> int:
    """Write the table, or with --check say whether it is what this script writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    text = table()
    if parser.parse_args().check:
        return 0 if TABLE.read_text("utf-8") == text else 1
    TABLE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
