"""Write docs/math.md: ``python scripts/math_page.py``.

Of proofs it says what ``scripts/prove_math.py`` saved, of errors what ``scripts/measure_math.py`` did, of speed what
``sim-node bench math --save docs/measurements`` did, and of devices what
``scripts/compare_devices.py`` did, if it has run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mpmath import mp

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from derive_math import APPROXIMATIONS, EXCEPTIONS  # noqa: E402

PAGE = ROOT / "docs" / "math.md"
PROOFS = ROOT / "docs" / "measurements" / "math_proofs.json"
ERRORS = ROOT / "docs" / "measurements" / "math_errors.json"
SPEED = ROOT / "docs" / "measurements" / "math.json"
BITS = ROOT / "docs" / "measurements" / "device_bits.json"

_EXP = "x·log2(e) = k + f in two parts; 2^k·(1 + f·q(f))"
_LOG = "x = 2^k·m, m·c = 1 + z exactly, c being 1 or 181/256; k·ln 2 − ln c + z + z²·q(z)"
_TRIG = "x/π = k + f with the bits of 1/π that the argument's size needs (Payne–Hanek); f·q(f²)"
_ROOT = "x + x³·q(x²); beyond ½ of the root of (1 − x)/2"
# function → how it is computed, and with which polynomials
METHODS: dict[str, tuple[str, tuple[str, ...]]] = {
    "exp": (_EXP, ("EXP2",)),
    "exp2": ("as exp, of x = k + f", ("EXP2",)),
    "expm1": ("as exp; (2^k − 1) + 2^k·f·q(f)", ("EXP2",)),
    "log": (_LOG, ("LOG",)),
    "log2": ("as log, k apart", ("LOG",)),
    "log10": ("as log", ("LOG",)),
    "log1p": ("as log, of 1 + x; near 0, z is x", ("LOG",)),
    "sin": (_TRIG, ("SIN",)),
    "cos": ("as sin, of x/π + ½", ("SIN",)),
    "tan": ("of x/π = k/2 + f, sine over cosine or the other way around", ("SIN", "COS")),
    "asin": (_ROOT, ("ASIN",)),
    "acos": ("as asin", ("ASIN",)),
    "atan": ("t + t³·q(t²) of x, (x − 1)/(x + 1) or −1/x", ("ATAN",)),
    "sinh": ("of k·ln 2 and f·ln 2, with the even and the odd half of 2^f", ("EXP2",)),
    "cosh": ("as sinh", ("EXP2",)),
    "tanh": ("sinh over cosh", ("EXP2",)),
    "cbrt": ("two steps of fourth order towards x^(−1/3), and the exact remainder of the cube", ()),
    "erf": ("x·q(x²); beyond 1, 1 − e^(−x²)·q(x)", ("ERF", "ERFC")),
}

_PAGE = """# Math

Written by `scripts/math_page.py` of what the other scripts derived, proved and measured.

## One argument, f32: correctly rounded

`sn.sin(x)` and the others below take an `f32` and give the `f32` nearest to the true value, **for every one of the
2^32 inputs**: their bits are defined by mathematics, and no processor, compiler or version can change them. Results
that are subnormal, zero or infinite are right too; NaN gives NaN, and so do arguments outside of the domain.

How: in `f64`, within about 2^-52, and rounded once to `f32`. An `f64` holds 29 bits more than an `f32`, so among 2^32
inputs only some dozens have a true value so near to the boundary between two `f32` that this could fail; which
they are is known from the proof. Coefficients are moved by units of their last place until these fall on the right
side (`NUDGES` in the script), and where none was found the input is listed and its result put in its place
(*exceptions*). There is no table in memory and no branch, so loops stay vectorised.

A product and a sum are rounded once where the processor can do that (fused multiply-add), else twice. Both are proven
to give the same results, so speed is all that differs.

Proof: `python scripts/prove_math.py NAME` runs the compiled kernel on all 2^32 inputs, fused and not. What is right is
found independently: by an f64 function of numpy's or C's, where moving it by 2^-44 of itself either way changes no
`f32` (on a sample it is checked against MPFR to be within 2^-48), and by MPFR for all other inputs; of a function that
is odd or even, one answer serves both signs. *Polynomial* is the degree and the greatest error that it brings into a
result, relative to that; *nearest* is how close to a boundary between two `f32` the hardest input comes, relative to
the value.

| function | method | polynomial | exceptions | decided by MPFR | nearest | misrounded of 2^32 |
|---|---|---|---|---|---|---|
"""


_TWO = """
## Two arguments, f32: within 0.501 units in the last place

By plain sums and products of `f64`, never fused, rounded once: the same bits everywhere. Special values are those of
C99's Annex F. Measured by `scripts/measure_math.py` on random pairs in every range in which a function differs, against
MPFR; *worst* is in units in the last place of the true value.

| function | pairs | worst |
|---|---|---|
"""

_DOUBLE = """
## f64: within one unit in the last place

By plain sums and products of `f64`, never fused, with what sums and products lose kept where it matters: the same bits
everywhere. Angles beyond 2^20 are reduced in integers with 192 bits of 2/π (Payne–Hanek). Of
random arguments of every size and range, subnormal ones, and those next to where a function is hard, all against MPFR:

| function | arguments | worst |
|---|---|---|
"""

_OTHERS = """
`erfc`, `erfinv` and `erfcinv` are within 5 units in the last place of `f64`; of `f32` they are those, rounded once
more.
"""

_FAST = """
## Faster: `@sn.kernel(fast_math="reproducible")`

`exp log sin cos tan` of `f32` are then computed in `f32` alone, by fused multiply-add: the same bits on every processor
that has it, and a kernel that runs where it is lacking is refused. Within 1.1 units in the last place for `exp`, 1 for
`log`, 2 for `sin` and `cos`, 5 for `tan` (`test/lang/library/test_fast.py`); angles beyond ±10⁶ give NaN. All other
functions, and those of `f64`, stay as they are.
"""


_SPEED = """
## Speed

Of `f32`, correctly rounded, beside numpy's `float32`, which is off by up to some units; one core, a million elements,
medians in one run with numpy {1} on: {0} (`sim-node bench math`); every loop is vectorised.

| function | ns an element | numpy | times |
|---|---|---|---|
"""

_BITS = """
## The same bits on {0} and {1}

`python scripts/compare_devices.py --devices {0} {1}` computes every function and operator of the language, of every
type that it takes, on both devices, and compares hashes of the results: those of one argument of up to 32 bits on every
input, the others on 20 million, among them special values and their neighbours. On {2} and {3}:

| inputs of each | functions | differ |
|---|---|---|
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
        exceptions = len(EXCEPTIONS.get(name, ()))
        rows.append(f"| `{name}` | {method} | {polynomials or '–'} | {exceptions} | {found} |\n")
    errors = json.loads(ERRORS.read_text("utf-8"))
    sections = [_PAGE, *rows]
    for kind, text in (("f32", _TWO), ("f64", _DOUBLE)):
        measured = {name: found[kind] for name, found in errors.items() if kind in found}
        sections += [
            text,
            *(f"| `{name}` | {one['inputs']} | {one['worst']:.4f} |\n" for name, one in measured.items()),
        ]
    return "".join([*sections, _OTHERS, _FAST, *devices(), *speed()])


def devices() -> Iterator[str]:
    """What `scripts/compare_devices.py` found on two devices; nothing where it has not run."""
    if not BITS.exists():
        return
    found = json.loads(BITS.read_text("utf-8"))
    machine = found["machine"]
    gpu = machine.get("gpu", {"title": "a second device of the CPU"})
    yield _BITS.format(*found["devices"], machine["processor"], gpu["title"])
    functions = found["functions"].values()
    every, some = ([one for one in functions if one["exhaustive"] is told] for told in (True, False))
    rows = [(f"2^{bits}", "all", [one for one in every if one["inputs"] == 2**bits]) for bits in (32, 16, 8)]
    rows.append((f"{max((one['inputs'] for one in some), default=0)}", "random", some))
    for inputs, kind, chosen in rows:
        if chosen:
            yield f"| {inputs}, {kind} | {len(chosen)} | {sum(not one['equal'] for one in chosen)} |\n"


def speed() -> Iterator[str]:
    """What `sim-node bench math` measured."""
    bench = json.loads(SPEED.read_text("utf-8"))
    peers, machine = bench["peers"]["numpy"], bench["machine"]
    yield _SPEED.format(machine["processor"], peers["version"])
    for name in METHODS:
        ours, theirs = bench["figures"][f"{name}_ns"], peers.get(f"{name}_ns")
        yield f"| `{name}` | {ours:.2f} | {f'{theirs:.2f} | {ours / theirs:.1f}' if theirs else '– | –'} |\n"


def _power(value: Any) -> str:
    return f"2^{float(mp.log(value, 2)):.1f}"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
