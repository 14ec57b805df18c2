"""The math library's inputs and its compiled functions, at any level of optimisation."""

from __future__ import annotations

import ctypes
import json
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sim_node as sn
from sim_node.compiler.backend import elf, host, llvm
from sim_node.compiler.frontend import lower
from sim_node.compiler.passes.pipeline import optimise

_HARD = json.loads((Path(__file__).parent / "hard_cases.json").read_text("utf-8"))
# Where results over- or underflow, domains end, methods change or values are exact; each also with its neighbours.
_SPECIAL = (
    *(0.0, 1e-45, 1.1754942e-38, 1.1754944e-38, 3.4028235e38, 1.0, 2.0, 3.0, 8.0, 10.0, 27.0, 100.0, 1000.0, 1e10),
    *(88.72284, 89.415985, 103.97208, 104.0, 87.33655, 90.0, 128.0, 126.0, 149.0, 149.5, 150.0, 151.0, 17.32868, 9.01),
    *(0.5, 0.25, 0.41421357, 2.4142137, 0.34657359, 0.69314718, 0.7853982, 1.5707964, 3.1415927, 6.2831855, 22.0),
    *(0.77110541, 0.91700404, 1.0905077, 1.2968396, 1.5422108, 2.0**-12, 2.0**-24, 2.0**-26, 2.0**-27, 2.0**23),
    *(2.0**24, 2.0**25, 2.0**26, 2.0**42, 2.0**58, 2.0**60, 2.0**74, 2.0**90, 2.0**106, 2.0**122, 2.0**127, 1.6367e32),
)


def special() -> np.ndarray[Any, Any]:
    near = np.array(_SPECIAL, np.float32)
    near = np.concatenate([near, np.nextafter(near, np.float32(0)), np.nextafter(near, np.float32(3e38))])
    odd = np.array([np.inf, np.nan], np.float32)
    payload = np.array([0x7F800001, 0xFFC12345], np.uint32).view(np.float32)
    return np.concatenate([near, -near, odd, -odd, payload])


@pytest.fixture(scope="session")
def hard() -> Callable[[str], np.ndarray[Any, Any]]:
    """The inputs of a function that lie nearest to a rounding boundary, and the special ones."""
    return lambda name: np.concatenate([special(), np.array(_HARD.get(name, []), np.uint32).view(np.float32)])


@pytest.fixture(scope="session")
def sample() -> np.ndarray[Any, Any]:
    """Inputs of every exponent and sign alike, and as many at random around 1."""
    bits = np.arange(0, 2**32, 16411, dtype=np.uint64).astype(np.uint32)
    random = np.random.default_rng(3).normal(0.0, 4.0, 100_000).astype(np.float32)
    return np.concatenate([bits.view(np.float32), random])


@pytest.fixture(scope="session")
def compiled() -> Callable[..., Callable[..., np.ndarray[Any, Any]]]:
    """Compile a kernel of float arrays of one length, the last being the result, at a level and with features."""

    @cache
    def compile_(kernel: Any, level: int = 3, features: str = "") -> Callable[..., np.ndarray[Any, Any]]:
        code = elf.load(llvm.compile_text(host.module(optimise(lower(kernel)).entry), level, features))
        form = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_char_p, ctypes.c_char_p)
        call = form(code.symbols[host.SYMBOL])

        def run(*inputs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
            result, error = np.zeros_like(inputs[0]), ctypes.create_string_buffer(32)
            arrays = (*inputs, result)
            words = (n for a in arrays for n in (a.ctypes.data, len(a)))
            block = struct.pack("<4i" + "Qq" * len(arrays), len(result), 1, 1, 1, *words)
            call(0, len(result), block, error)
            assert code  # which also keeps it mapped
            assert not any(error.raw)
            return result

        return run

    return compile_


@pytest.fixture(scope="session")
def apply(compiled: Any) -> Callable[..., np.ndarray[Any, Any]]:
    """Give the bits of a function of the library on an array, compiled at any level and with any features."""

    @cache
    def kernel(name: str) -> Any:
        function = getattr(sn, name)

        @sn.kernel
        def each(x: sn.array(dtype=float), y: sn.array(dtype=float)):
            i = sn.tid()
            y[i] = function(x[i])

        return each

    return lambda name, x, level=3, features="": compiled(kernel(name), level, features)(x).view(np.uint32)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture(scope="session")
def measuring() -> Any:
    """The script that measures errors by MPFR."""
    pytest.importorskip("gmpy2", reason="the reference is MPFR's")
    from scripts import measure_math

    return measure_math
