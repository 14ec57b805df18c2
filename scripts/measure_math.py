"""Measure the error of the math library where it is not 0: ``python scripts/measure_math.py [NAME …] [--save]``.

Needs the extra ``test`` (gmpy2). Functions of two f32 on 20 million pairs: of the error the f64 functions of numpy give
all but 2^-20 units, and MPFR decides the greatest ones. Functions of f64 on a million arguments each, all by MPFR.
Arguments are random in every range in which a function differs, and those known to be hard.
"""

# mypy: disable-error-code="valid-type, untyped-decorator, no-untyped-def, no-any-return"
# (kernels are typed in the kernel language, gmpy2 not at all)

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gmpy2
import numpy as np

import sim_node as sn
from sim_node.lang.library import MATH

ROOT = Path(__file__).resolve().parent.parent
ERRORS = ROOT / "docs" / "measurements" / "math_errors.json"
TWO = ("atan2", "hypot", "pow")
PAIRS, ARGUMENTS = 20_000_000, 1_010_000
CHUNK = 1_000_000
Values = np.ndarray[Any, np.dtype[Any]]


def true(name: str) -> Callable[..., Any]:
    """MPFR's function."""
    return (lambda a, b: a**b) if name == "pow" else getattr(gmpy2, name)


def worst(result: Values, function: Callable[..., Any], *inputs: Values) -> tuple[float, list[float]]:
    """The greatest error in units in the last place of the true value, and where; what overflows must be infinite."""
    greatest, where, kind = 0.0, [0.0] * len(inputs), result.dtype.type
    with np.errstate(over="ignore"), gmpy2.context(precision=160, emin=-(2**20), emax=2**20):
        for got, *arguments in zip(result.tolist(), *(values.tolist() for values in inputs)):
            exact = function(*map(gmpy2.mpfr, arguments))
            near = kind(float(exact))
            error = float("inf") if np.isfinite(near) != np.isfinite(got) else 0.0
            if error == 0.0 and np.isfinite(near):
                error = abs(float((gmpy2.mpfr(got) - exact) / float(np.spacing(np.abs(near)))))
            if error > greatest:
                greatest, where = error, arguments
    return greatest, where


def run(name: str, inputs: list[Values]) -> Values:
    """Apply the function in a kernel."""
    function, dtype = getattr(sn, name), inputs[0].dtype.type

    @sn.kernel
    def one(x: sn.array(dtype=dtype), z: sn.array(dtype=dtype)):
        i = sn.tid()
        z[i] = function(x[i])

    @sn.kernel
    def two(x: sn.array(dtype=dtype), y: sn.array(dtype=dtype), z: sn.array(dtype=dtype)):
        i = sn.tid()
        z[i] = function(x[i], y[i])

    result = np.zeros_like(inputs[0])
    sn.launch(one if len(inputs) == 1 else two, len(result), inputs, [result])
    return result


def pairs(name: str, rng: np.random.Generator, count: int, dtype: type) -> list[Values]:
    """Arguments of a function of two: of every size, near each other, and around 1."""
    if name == "pow":
        log_most, log_least = (88.0, -103.0) if dtype is np.float32 else (709.0, -745.0)
        third = count // 3
        spread = np.exp(rng.uniform(-0.95 * log_most, 0.95 * log_most, third))
        x = np.concatenate([spread, 1 + rng.normal(0, 1e-5, third), rng.uniform(0.4, 2.6, count - 2 * third)])
        x = x.astype(dtype)
        with np.errstate(all="ignore"):
            y = rng.uniform(log_least, log_most, count) / np.log(x.astype(np.float64))
        return finite([x, y.astype(dtype)])
    bits: Values = rng.integers(0, 2**64, count // 2, dtype=np.uint64)
    patterns = (bits >> np.uint64(32)).astype(np.uint32).view(np.float32) if dtype is np.float32 else bits.view(dtype)
    x = np.concatenate([patterns, rng.normal(0, 3, count - len(patterns)).astype(dtype)])
    with np.errstate(all="ignore"):
        return finite([x, (x * np.exp(rng.normal(0, 3, count))).astype(dtype)])


def angles(rng: np.random.Generator, count: int) -> Values:
    """Angles next to quarter turns, large ones, and the f64 that is closest to one (Muller, "Elementary Functions")."""
    near = rng.integers(1, 10**6, count) * (np.pi / 2)
    return np.concatenate(
        [near, np.nextafter(near, 0), 10.0 ** rng.uniform(5, 308, count), [6381956970095103 * 2.0**797]]
    )


def arguments(name: str, rng: np.random.Generator, count: int) -> list[Values]:
    """Arguments of a function of f64, by the ranges in which it differs."""
    if name in TWO:
        return pairs(name, rng, count, np.float64)
    part = count // (3 if name in ("asin", "acos", "log1p") else 6)  # of these some are left out
    uniform, tiny = rng.uniform, rng.normal(0, 1e-5, part)
    special = {
        "exp2": [uniform(-1080, 1030, part)],
        "log": [1 + tiny, uniform(0.4, 2.5, part)],
        "log1p": [tiny, uniform(-1, 3, part), 10.0 ** uniform(-16, 0, part) - 1],
        "sin": [angles(rng, part)],
        "asin": [uniform(-1, 1, part), 1 - 10.0 ** uniform(-16, 0, part)],
        "erf": [uniform(-7, 7, part)],
        "cbrt": [],
    }
    like = {"log2": "log", "log10": "log", "cos": "sin", "tan": "sin", "acos": "asin", "atan": "cbrt"}
    own = special.get(like.get(name, name), [uniform(-750, 720, part)])
    subnormal = rng.integers(1, 2**52, part, dtype=np.uint64).view(np.float64)
    bits = rng.integers(0, 2**64, part, dtype=np.uint64).view(np.float64)
    x = np.concatenate([bits, subnormal, *own])
    x = np.concatenate([x, rng.normal(0, 3, max(part, count + 2000 - len(x)))])
    if name in ("log", "log2", "log10"):
        x = np.abs(x)
    inside = {"log1p": x > -1, "asin": np.abs(x) <= 1, "acos": np.abs(x) <= 1}
    return finite([x[inside[name]].copy() if name in inside else x])


def finite(inputs: list[Values]) -> list[Values]:
    """Those of which every argument is finite."""
    keep = np.logical_and.reduce([np.isfinite(values) for values in inputs])
    return [values[keep].copy() for values in inputs]


def measure_f32(name: str, rng: np.random.Generator, count: int = PAIRS) -> dict[str, Any]:
    """The greatest error of a function of two f32."""
    done, greatest, where = 0, 0.0, [0.0, 0.0]
    numpy = {"atan2": np.arctan2, "hypot": np.hypot, "pow": np.power}[name]
    while done < count:
        inputs = pairs(name, rng, min(CHUNK, count - done + 1000), np.float32)
        result = run(name, inputs)
        with np.errstate(all="ignore"):
            near = numpy(*(values.astype(np.float64) for values in inputs))
            errors = np.abs(result - near) / np.spacing(np.abs(near.astype(np.float32)))
        errors[~np.isfinite(errors)] = 1.0  # to be looked at
        top = np.flatnonzero(errors >= np.partition(errors, -50)[-50])
        error, at = worst(result[top], true(name), *(values[top] for values in inputs))
        if error > greatest:
            greatest, where = error, at
        done += len(result)
    return {"inputs": done, "worst": greatest, "at": where}


def measure_f64(name: str, rng: np.random.Generator, count: int = ARGUMENTS) -> dict[str, Any]:
    """The greatest error of a function of f64."""
    inputs = arguments(name, rng, count)
    error, at = worst(run(name, inputs), true(name), *inputs)
    return {"inputs": len(inputs[0]), "worst": error, "at": at}


def main() -> int:
    """Measure the functions named, or all; exit code 1 if one is off by more than is promised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*MATH, *TWO, []])
    parser.add_argument("--save", action="store_true", help="write the figures into the tree")
    asked = parser.parse_args()
    rng, broken = np.random.default_rng(20), False
    for name in asked.names or (*TWO, *MATH):
        found = {"f64": measure_f64(name, rng)}
        if name in TWO:
            found["f32"] = measure_f32(name, rng)
        broken |= found["f64"]["worst"] > 1.0 or found.get("f32", {"worst": 0.0})["worst"] > 0.501
        print(f"{name}: {found}", flush=True)
        if asked.save:
            errors = json.loads(ERRORS.read_text("utf-8")) if ERRORS.exists() else {}
            errors[name] = found
            ERRORS.write_text(json.dumps(errors, indent=1, sort_keys=True) + "\n", "utf-8")
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
