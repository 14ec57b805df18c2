"""Machine code for tests: IR text or a module, run on numpy arrays."""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim_node.compiler.backend import abi, elf, host, llvm
from sim_node.compiler.ir.function import Module
from sim_node.compiler.ir.parser import parse
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.pipeline import optimise
from sim_node.dtypes import ArrayType

# samples.py and interpreter.py; import-mode is importlib, which puts no folder on the path
sys.path.insert(0, str(Path(__file__).parent))


@dataclass(frozen=True)
class Stop:
    """What a kernel left in its error block; code 0 is none."""

    code: int
    site: int
    thread: int
    index: int
    length: int


Execute = Callable[..., Stop]


def argument_block(kinds: Sequence[Any], args: Sequence[Any]) -> bytes:
    values: list[tuple[str, Any]] = []
    for kind, arg in zip(kinds, args, strict=True):
        if isinstance(kind, ArrayType):
            assert arg.dtype == kind.dtype.numpy
            assert arg.flags.c_contiguous
            values += [("<Q", arg.ctypes.data), ("<q", len(arg))]
        else:
            values += [("", part) for part in np.asarray(kind(arg), kind.numpy).reshape(-1)]
    words = abi.words(kinds)
    block = bytearray(max((word.offset for word in words), default=0) + 8)
    for word, (layout, value) in zip(words, values, strict=True):
        raw = struct.pack(layout, value) if layout else value.tobytes()
        block[word.offset : word.offset + len(raw)] = raw
    return bytes(block)


@pytest.fixture(scope="session")
def pack() -> Callable[..., bytes]:
    """Pack arguments as a launch does."""
    return argument_block


@pytest.fixture
def execute() -> Execute:
    """Run ``dim`` threads of IR, optimised unless told not to, and return the error block."""

    def run(
        source: str | Module, dim: int, *args: Any, begin: int = 0, opt_level: int = 3, optimised: bool = True
    ) -> Stop:
        module = verify(parse(source) if isinstance(source, str) else source)
        module = optimise(module) if optimised else module
        code = elf.load(llvm.compile_text(host.module(module.entry), opt_level))
        kernel = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_char_p, ctypes.c_char_p)
        error = ctypes.create_string_buffer(32)
        kernel(code.symbols[host.SYMBOL])(
            begin, dim, argument_block([param.type for param in module.entry.params], args), error
        )
        return Stop(*struct.unpack("<IIqqq", error.raw))

    return run
