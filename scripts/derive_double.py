"""Derive the coefficients of the math library's f64 functions and write them: ``python scripts/derive_double.py``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mpmath import mp

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from derive_math import (  # noqa: E402
    APPROXIMATIONS,
    RECIPROCAL,
    Approximation,
    cut,
    series,
    split,
)

TABLE = ROOT / "sim_node" / "lang" / "library" / "double" / "coefficients.py"

_HEAD = '''"""Coefficients of the math library's f64 functions, written by ``scripts/derive_double.py``."""

# fmt: off
'''
_EXP_BOUND = mp.log(2) / 2 + mp.ldexp(1, -20)
_TURN_BOUND = (mp.pi / 4 + mp.ldexp(1, -20)) ** 2
_LAST = mp.mpf(5)
_ERFC = APPROXIMATIONS["ERFC"]
_LOG = APPROXIMATIONS["LOG"]
# From here on, terms of log(1 + z) need no more than an f64 each.
_FINE = 6


def _scaled_erfc(t: Any) -> Any:
    """erfc(x)·e^(x²)·(x + 15/4), of t = (x - 15/4)/(x + 15/4)."""
    x = mp.mpf("3.75") * (1 + t) / (1 - t)
    return mp.erfc(x) * mp.exp(x * x) * (x + mp.mpf("3.75"))


APPROXIMATIONS_OF_F64 = {
    "EXP": Approximation(
        11, -_EXP_BOUND, _EXP_BOUND, series(lambda n, r: r**n / mp.factorial(n + 2), 60), lambda r: r**2 / mp.exp(r)
    ),
    "LOG": Approximation(15, _LOG.low, _LOG.high, _LOG.function, _LOG.share),
    "LOG_FINE": Approximation(
        16, _LOG.low, _LOG.high, series(lambda n, z: -((-1) ** (n + _FINE)) * z**n / (n + _FINE), 400),
        lambda z: z**_FINE / mp.log1p(z),
    ),
    "SIN": Approximation(
        7, 0, _TURN_BOUND, series(lambda n, s: (-1) ** (n + 1) * s**n / mp.factorial(2 * n + 3), 60),
        lambda s: s**1.5 / mp.sin(mp.sqrt(s)),
    ),
    "COS": Approximation(
        6, 0, _TURN_BOUND, series(lambda n, s: (-1) ** n * s**n / mp.factorial(2 * n + 4), 60),
        lambda s: s**2 / mp.cos(mp.sqrt(s)),
    ),
    "ASIN": APPROXIMATIONS["ASIN"],
    "ATAN": APPROXIMATIONS["ATAN"],
    "ERF": Approximation(
        11, 0, mp.mpf(9) / 16, lambda s: mp.erf(mp.sqrt(s)) / mp.sqrt(s) - 1, lambda s: mp.sqrt(s) / mp.erf(mp.sqrt(s))
    ),
    "ERF_AT_1": Approximation(
        13, -mp.mpf(1) / 4, mp.mpf(1) / 4, lambda u: (mp.erf(1 + u) - mp.erf(1)) / u, lambda u: u / mp.erf(1 + u)
    ),
    "ERFC": Approximation(23, _ERFC.low, _ERFC.high, _ERFC.function, _ERFC.share),
    "ERFC_LAST": Approximation(
        10, -1, 1, lambda v: mp.erfc(v + _LAST) * mp.exp((v + _LAST) ** 2), lambda v: mp.exp(-((v + _LAST) ** 2))
    ),
    "ERFC_FOLDED": Approximation(27, -1, mp.mpf("0.77"), lambda t: _scaled_erfc(t), lambda t: 1 / _scaled_erfc(t)),
}  # fmt: skip


def constants() -> Iterator[tuple[str, Any]]:
    """Constants whose products are exact have the bits that leaves room for: 42 beside the 11 of an exponent."""
    yield "LOG2_E", float(1 / mp.log(2))
    yield "LN2", split(mp.log(2), -53)[0]
    yield "LN2_REST", split(mp.log(2), -53)[1]
    yield "LN2_HEAD", split(mp.log(2), -42)[0]
    yield "LN2_TAIL", split(mp.log(2), -42)[1]
    yield "RECIPROCAL", float(RECIPROCAL)
    for name, base in (("LN", mp.e), ("LB", mp.mpf(2)), ("LG", mp.mpf(10))):
        scale = 1 / mp.log(base)
        yield f"{name}_CENTRE", list(split(-mp.log(RECIPROCAL) * scale, -42))
        if name != "LN":
            yield f"{name}_SCALE", list(split(scale, -52 if scale > 1 else -54))
    yield "LG_OCTAVE", list(split(mp.log10(2), -42))
    yield "THIRD", list(split(mp.mpf(1) / 3, -54))
    yield "FIFTH", list(split(mp.mpf(1) / 5, -55))
    yield "HALF_PI", list(split(mp.pi / 2, -52))
    yield "QUARTER_PI", list(split(mp.pi / 4, -53))
    yield "ERF_OF_1", list(split(mp.erf(1), -53))
    yield "QUARTERS", float(2 / mp.pi)
    yield "QUARTER", list(split(mp.pi / 2, -52))
    parts, left = [], mp.pi / 2
    for unit in (-32, -65, -98):
        parts.append(float(cut(left, unit)))
        left -= cut(left, unit)
    yield "QUARTER_PARTS", [*parts, float(left)]


def words() -> list[int]:
    """2/π in words of 64 bits, after 128 zeros."""
    with mp.workprec(1600):
        return [int(mp.floor(mp.ldexp(2 / mp.pi, 64 * (i - 1)))) % 2**64 for i in range(21)]


def table() -> str:
    """The text of the table."""
    lines = [_HEAD]
    coefficients = ((name, part.coefficients()) for name, part in APPROXIMATIONS_OF_F64.items())
    for name, value in (*constants(), ("TURN_WORDS", words()), *coefficients):
        if isinstance(value, float):
            lines.append(f"\n{name} = {value!r}")
        else:
            shown = (f"0x{number:016X}" if isinstance(number, int) else repr(number) for number in value)
            lines.append(f"\n{name} = (\n" + "".join(f"    {number},\n" for number in shown) + ")")
    return "".join(lines) + "\n"


def main() -> None:
    """Write the table."""
    TABLE.write_text(table(), "utf-8")


if __name__ == "__main__":
    main()
