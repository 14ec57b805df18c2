"""Prove a function of the math library correctly rounded: ``python scripts/prove_math.py NAME … [--save]``.

Needs the extra ``test`` (gmpy2). The compiled kernel runs on all 2^32 inputs twice: with fused multiply-add, as
processors that have it do, and without. What is right is found without it:
numpy's f64 function is within 2^-48 of the true value, which a stratified sample checks against MPFR; where moving it
by 2^-44 either way changes no f32, that f32 is right; every other input is decided by MPFR.
"""

# mypy: disable-error-code="valid-type, untyped-decorator, no-untyped-def, no-any-return"
# (the kernel is typed in the kernel language, gmpy2 not at all)

from __future__ import annotations

import argparse
import ctypes
import json
import math
import struct
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import gmpy2
import numpy as np

import sim_node as sn
from sim_node.compiler.backend import elf, host, llvm
from sim_node.compiler.frontend import lower
from sim_node.compiler.passes.pipeline import optimise

ROOT = Path(__file__).parent.parent
PROOFS = ROOT / "docs" / "measurements" / "math_proofs.json"
HARD = ROOT / "test" / "lang" / "library" / "hard_cases.json"
INPUTS = 2**32
CHUNK = 2**15  # its arrays stay in the cache of one core
MARGIN = 2.0**-44
TRUSTED = 2.0**-48
KEPT = 100  # of the inputs nearest to a rounding boundary

Floats = np.ndarray[Any, np.dtype[np.float32]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]

_ERF = np.frompyfunc(math.erf, 1, 1)
_ERF_CURVED, _ERF_FLAT = 2.0**-12, 6.0


def _erf(x: Doubles) -> Doubles:
    """C's erf; numpy has none. Near 0 the series, far away the limit, to call C for one octave in twenty."""
    value = x * (2 / math.sqrt(math.pi)) * (1 - x * x / 3 * (1 - x * x * 0.3))
    value = np.where(np.abs(x) >= _ERF_FLAT, np.sign(x), value)
    curved = (np.abs(x) >= _ERF_CURVED) & (np.abs(x) < _ERF_FLAT)
    value[curved] = np.asarray(_ERF(x[curved]), np.float64)
    return value


# name → an f64 function, and MPFR's name for it; most are numpy's of the same name
REFERENCES: dict[str, tuple[Callable[[Doubles], Doubles], str]] = {
    **{name: (getattr(np, name), name) for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt")},
    **{name: (getattr(np, name), name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "asin": (np.arcsin, "asin"),
    "acos": (np.arccos, "acos"),
    "atan": (np.arctan, "atan"),
    "erf": (_erf, "erf"),
}
SIGN = 0x8000_0000
# What the sign of the argument does to the result's bits, where mathematics says so: one reference does for both.
MIRRORED = {**dict.fromkeys(("sin", "tan", "asin", "atan", "sinh", "tanh", "cbrt", "erf"), SIGN), "cos": 0, "cosh": 0}


@dataclass
class Proof:
    """What a run over ``inputs`` patterns found.

    ``decided`` by MPFR; ``sample_error`` is the reference's greatest relative error on the sample; ``hard`` lists bits
    of inputs and how near, relative to the result, the true value is to a boundary between two f32; ``wrong`` the first
    inputs that are misrounded.
    """

    name: str
    inputs: int = 0
    misrounded: int = 0
    decided: int = 0
    sample_error: float = 0.0
    seconds: float = 0.0
    wrong: list[int] = field(default_factory=list)
    hard: list[tuple[int, float]] = field(default_factory=list)


# What processors do differently: products are added with one rounding or with two.
UNFUSED = "-avx512f,-fma,-fma4"


def kernel(name: str, features: str) -> Callable[[Floats], Floats]:
    """The function on each element of an array, compiled for this processor with ``features`` added or taken away."""
    function = getattr(sn, name)

    @sn.kernel
    def apply(x: sn.array(dtype=sn.float32), y: sn.array(dtype=sn.float32)):
        i = sn.tid()
        y[i] = function(x[i])

    code = elf.load(llvm.compile_text(host.module(optimise(lower(apply)).entry), features=features))
    form = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_char_p, ctypes.c_char_p)
    call = form(code.symbols[host.SYMBOL])

    def run(x: Floats) -> Floats:
        y, error = np.zeros(len(x), np.float32), ctypes.create_string_buffer(32)
        call(0, len(x), struct.pack("<4iQqQq", len(x), 1, 1, 1, x.ctypes.data, len(x), y.ctypes.data, len(y)), error)
        assert code  # which also keeps it mapped
        assert not any(error.raw)
        return y

    return run


def true_value(name: str, x: float) -> np.float32:
    """The f32 that the exact value of the function rounds to, by MPFR."""
    with gmpy2.ieee(32):
        return np.float32(float(getattr(gmpy2, REFERENCES[name][1])(gmpy2.mpfr(x))))


def distance(name: str, x: float, result: np.float32) -> float:
    """How near the exact value is to the boundary between ``result`` and a neighbour, relative to the value."""
    infinity = np.float32(np.inf)
    with gmpy2.context(precision=240):
        value = getattr(gmpy2, REFERENCES[name][1])(gmpy2.mpfr(x))
        if not gmpy2.is_finite(value) or value == 0 or not np.isfinite(result):
            return 1.0
        neighbours = (float(np.nextafter(result, infinity)), float(np.nextafter(result, -infinity)))
        ends = [(gmpy2.mpfr(float(result)) + neighbour) / 2 for neighbour in neighbours]
        return float(min(abs((value - end) / value) for end in ends))


def reference(name: str, x: Floats) -> tuple[Floats, np.ndarray[Any, Any]]:
    """The right f32 of each input, and which of them are still to be decided."""
    with np.errstate(all="ignore"):
        value = REFERENCES[name][0](x.astype(np.float64))
        low = (value * (1 - MARGIN)).astype(np.float32)
        high = (value * (1 + MARGIN)).astype(np.float32)
    return low, np.flatnonzero(low.view(np.uint32) != high.view(np.uint32))


def sample_error(name: str) -> float:
    """The reference's greatest relative error on a sample that has as many inputs in each octave of each sign."""
    bits = np.arange(0, INPUTS, 257 * 1021, dtype=np.uint64).astype(np.uint32)
    x = bits.view(np.float32)
    with np.errstate(all="ignore"):
        values = REFERENCES[name][0](x.astype(np.float64))
    worst = 0.0
    with gmpy2.context(precision=240, emax=2**20, emin=-(2**20)):
        for argument, value in zip(x[np.isfinite(values)].tolist(), values[np.isfinite(values)].tolist()):
            exact = getattr(gmpy2, REFERENCES[name][1])(gmpy2.mpfr(argument))
            if gmpy2.is_finite(exact) and abs(exact) > 1e-300:
                worst = max(worst, float(abs((gmpy2.mpfr(value) - exact) / exact)))
    return worst


def canonical(values: Floats) -> np.ndarray[Any, Any]:
    """Bits, with one pattern for NaN."""
    return np.where(np.isnan(values), np.float32(np.nan), values).view(np.uint32)


def chunks(first: int, last: int) -> Iterator[Floats]:
    """All patterns from first to last, a chunk at a time."""
    for start in range(first, last, CHUNK):
        yield (np.uint32(start) + np.arange(min(CHUNK, last - start), dtype=np.uint32)).view(np.float32)


def prove(name: str, progress: Callable[[int], None], first: int = 0, last: int = INPUTS) -> Proof:
    """Compare the kernel with what is right on the patterns from first to last: on every input.

    Of a mirrored function, first and last are below 2^31, and the negative of each pattern is compared as well.
    """
    proof, began = Proof(name), time.monotonic()
    runs = [kernel(name, features) for features in ("", UNFUSED)]
    proof.sample_error = sample_error(name)
    if proof.sample_error > TRUSTED:
        raise SystemExit(f"the f64 {name} here is off by {proof.sample_error:g}: no reference")
    for x in chunks(first, min(last, SIGN) if name in MIRRORED else last):
        right, undecided = reference(name, x)
        for i in undecided.tolist():
            right[i] = true_value(name, float(x[i]))
            near = distance(name, float(x[i]), right[i])
            if 0.0 < near < 2.0**-48:
                proof.hard.append((int(x[i : i + 1].view(np.uint32)[0]), near))
        proof.decided += len(undecided)
        compare(proof, runs, x, right)
        if name in MIRRORED:
            compare(proof, runs, flipped(x, SIGN), flipped(right, MIRRORED[name]))
        progress(proof.inputs)
    proof.hard = sorted(proof.hard, key=lambda case: case[1])[:KEPT]
    proof.seconds = time.monotonic() - began
    return proof


def flipped(values: Floats, bits: int) -> Floats:
    """The values with some bits inverted."""
    return (values.view(np.uint32) ^ np.uint32(bits)).view(np.float32)


def compare(proof: Proof, runs: list[Callable[[Floats], Floats]], x: Floats, right: Floats) -> None:
    """Count where the kernels' results are not the right ones; any NaN is as good as another."""
    wrong = np.zeros(len(x), bool)
    for run in runs:
        y = run(x)
        differing = np.flatnonzero(y.view(np.uint32) != right.view(np.uint32))
        wrong[differing] |= canonical(y[differing]) != canonical(right[differing])
    misrounded = np.flatnonzero(wrong)
    proof.misrounded += len(misrounded)
    proof.wrong += x[misrounded[: KEPT - len(proof.wrong)]].view(np.uint32).tolist()
    proof.inputs += len(x)


def save(proof: Proof) -> None:
    """Keep the proof's figures, and the hard inputs for the tests."""
    proofs = json.loads(PROOFS.read_text("utf-8")) if PROOFS.exists() else {}
    figures = asdict(proof)
    hard = figures.pop("hard")
    figures["nearest"] = hard[0][1] if hard else None
    proofs[proof.name] = figures
    PROOFS.write_text(json.dumps(proofs, indent=1, sort_keys=True) + "\n", "utf-8")
    cases = json.loads(HARD.read_text("utf-8")) if HARD.exists() else {}
    cases[proof.name] = [bits for bits, _ in hard]
    rows = ",\n".join(f' "{name}": {json.dumps(cases[name])}' for name in sorted(cases))
    HARD.write_text("{\n" + rows + "\n}\n", "utf-8")


def main() -> int:
    """Prove the functions named; exit code 1 if any result is misrounded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", choices=REFERENCES)
    parser.add_argument("--save", action="store_true", help="write the proof and its hard cases into the tree")
    arguments = parser.parse_args()
    misrounded = 0
    for name in arguments.names:

        def progress(done: int, name: str = name) -> None:
            if done % (INPUTS // 8) == 0:
                print(f"{name}: {done / INPUTS:.0%}", file=sys.stderr, flush=True)

        proof = prove(name, progress)
        misrounded += proof.misrounded
        print(
            f"{name}: {proof.misrounded} misrounded of {proof.inputs}, {proof.decided} decided by MPFR, "
            f"nearest {proof.hard[0][1] if proof.hard else 1:.3g}, reference within {proof.sample_error:.3g}, "
            f"{proof.seconds:.0f} s",
            flush=True,
        )
        if proof.wrong:
            print(f"{name}: first misrounded: {[hex(bits) for bits in proof.wrong[:10]]}", flush=True)
        if arguments.save:
            save(proof)
    return 1 if misrounded else 0


if __name__ == "__main__":
    sys.exit(main())
