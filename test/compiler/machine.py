"""Machine code of a kernel, run on numpy arrays: what the tests of the compiler and the fuzzer share."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import sim_node.lang.values  # noqa: F401 (calling a composite type makes a value by it)
from sim_node.compiler.backend import abi, elf, host, llvm
from sim_node.compiler.backend.target import HOST, Target
from sim_node.dtypes import ArrayType, numeric

_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_char_p, ctypes.c_char_p)


@dataclass(frozen=True)
class Stop:
    """What a kernel left in its error block; code 0 is none."""

    code: int
    site: int
    thread: int
    index: int
    length: int


def argument_block(kinds: Sequence[Any], args: Sequence[Any], dim: Sequence[int] = ()) -> bytes:
    """Pack dims and arguments as a launch does."""
    values: list[tuple[str, Any]] = []
    for kind, arg in zip(kinds, args, strict=True):
        if isinstance(kind, ArrayType):
            assert arg.dtype.itemsize in (kind.dtype.size, getattr(kind.dtype, "scalar", kind.dtype).size)
            assert arg.flags.c_contiguous
            values += [("<Q", arg.ctypes.data), *(("<i", n) for n in arg.shape[: kind.ndim])]
        else:
            values += [("", part) for part in np.asarray(kind(arg), numeric(kind).numpy).reshape(-1)]
    words = abi.words(kinds)
    block = bytearray(max((word.offset for word in words), default=abi.HEAD) + 8)
    block[: abi.HEAD] = struct.pack("<4i", *(*dim, 1, 1, 1, 1)[:4])
    for word, (layout, value) in zip(words, values, strict=True):
        raw = struct.pack(layout, value) if layout else value.tobytes()
        block[word.offset : word.offset + len(raw)] = raw
    return bytes(block)


def run(address: int, dim: int, block: bytes, begin: int = 0) -> Stop:
    """Run threads ``begin`` … ``dim - 1`` of the code at an address, and return the error block."""
    error = ctypes.create_string_buffer(32)
    _KERNEL(address)(begin, dim, block, error)
    return Stop(*struct.unpack("<IIqqq", error.raw))


class Code:
    """Machine code of LLVM IR for a target that this processor runs; ``kinds`` are the parameters of its kernel."""

    def __init__(self, kinds: Sequence[Any], text: str, opt_level: int = 3, target: Target = HOST) -> None:
        self.kinds = kinds
        self.code = elf.load(llvm.compile_text(text, opt_level, target=target))

    def run(self, dim: int, *args: Any, begin: int = 0) -> Stop:
        """Run threads ``begin`` … ``dim - 1``, and return the error block."""
        return run(self.code.symbols[host.SYMBOL], dim, argument_block(self.kinds, args, (dim,)), begin)
