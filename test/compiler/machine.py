"""Machine code of a kernel, run on numpy arrays: what the tests of the compiler and the fuzzer share."""

from __future__ import annotations

import copy
import ctypes
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

import sim_node.lang.values  # noqa: F401 (calling a composite type makes a value by it)
from sim_node.compiler.backend import abi, elf, host, llvm
from sim_node.compiler.backend.lanes import INDEX
from sim_node.compiler.backend.target import HOST, Target
from sim_node.dtypes import ArrayType, Struct, numeric

# What a kernel is given besides its arguments (src/plan.h), and room for what it prints.
ERROR, PRINTS = struct.Struct("<IIqqqQIIQ"), struct.Struct("<QQQQ")
ROOM, LONGEST = 1 << 18, 24 + 8 * 256
_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_char_p, ctypes.c_char_p)


@dataclass(frozen=True)
class Stop:
    """What a kernel left in its error block; code 0 is none. And the records of what it printed."""

    code: int
    site: int
    thread: int
    index: int
    length: int
    records: bytes = b""


@dataclass
class Given:
    """An array as an argument that lies anywhere: the part ``[key]`` of memory, its axes in another order.

    ``lists`` has for each dimension of an indexed one a list of i32, or None. ``held`` are the arrays that its elements
    refer to, by the fields where they do; all elements refer to the same. A copy refers to copies.
    """

    memory: np.ndarray[Any, Any]
    axes: tuple[int, ...]
    key: tuple[slice, ...]
    lists: tuple[np.ndarray[Any, Any] | None, ...]
    held: tuple[tuple[tuple[str, ...], Given], ...] = ()

    def __deepcopy__(self, memo: Any) -> Given:
        made = replace(self, memory=self.memory.copy(), held=copy.deepcopy(self.held, memo))
        made.refer([its for _, its in made.held])
        return made

    def refer(self, held: Sequence[Given | None]) -> None:
        """Let the elements refer to these, with their lists; None is no array, whatever its lists were."""
        for (path, _), its in zip(self.held, held, strict=True):
            part = reduce(lambda part, name: part[name], path, self.memory)
            part["address"] = 0 if its is None else its.array.ctypes.data
            if its is not None and its.lists and "indices" in part.dtype.names:
                part["indices"] = [0 if one is None else one.ctypes.data for one in its.lists]

    @property
    def array(self) -> np.ndarray[Any, Any]:
        """The elements as numpy shows them; those of an indexed array are in no order."""
        axes = (*self.axes, *range(len(self.axes), self.memory.ndim))
        part: np.ndarray[Any, Any] = self.memory.transpose(axes)[self.key]
        return part


def descriptor(kind: ArrayType, given: Given | np.ndarray[Any, Any]) -> list[tuple[str, Any]]:
    """The words by which a kernel knows an array."""
    array, lists = (given.array, given.lists) if isinstance(given, Given) else (given, ())
    assert array.dtype.itemsize in (kind.dtype.size, getattr(kind.dtype, "scalar", kind.dtype).size)
    assert array.flags.c_contiguous or kind.layout != "contiguous"
    lists = lists or (None,) * kind.ndim
    shape = [n if its is None else len(its) for n, its in zip(array.shape, lists)]
    words: list[tuple[str, Any]] = [("<Q", array.ctypes.data), *(("<i", n) for n in shape)]
    words += [("<q", n) for n in array.strides[: kind.ndim]]
    words += [("<Q", 0 if its is None else its.ctypes.data) for its in lists]
    return words[: len(kind.leaves)]


def _words(kind: Any, arg: Any) -> list[tuple[str, Any]]:
    """The words of an argument; of a struct its parts are given in order."""
    if isinstance(kind, ArrayType):
        return descriptor(kind, arg)
    if isinstance(kind, Struct):
        return [word for its, part in zip(kind.types, arg, strict=True) for word in _words(its, part)]
    return [("", part) for part in np.asarray(kind(arg), numeric(kind).numpy).reshape(-1)]


def argument_block(kinds: Sequence[Any], args: Sequence[Any], dim: Sequence[int] = ()) -> bytes:
    """Pack dims and arguments as a launch does."""
    values = [value for kind, arg in zip(kinds, args, strict=True) for value in _words(kind, arg)]
    words = abi.words(kinds)
    block = bytearray(max((word.offset for word in words), default=abi.HEAD) + 8)
    block[: abi.HEAD] = struct.pack("<4i", *(*dim, 1, 1, 1, 1)[:4])
    for word, (layout, value) in zip(words, values, strict=True):
        raw = struct.pack(layout, value) if layout else value.tobytes()
        block[word.offset : word.offset + len(raw)] = raw
    return bytes(block)


def run(address: int, dim: int, block: bytes, begin: int = 0) -> Stop:
    """Run threads ``begin`` … ``dim - 1`` of the code at an address, and return the error block."""
    prints = ctypes.create_string_buffer(PRINTS.pack(0, ROOM, 2**64 - 1, 0), PRINTS.size + ROOM + LONGEST)
    error = ctypes.create_string_buffer(ERROR.pack(0, 0, 0, 0, 0, ctypes.addressof(prints), 0, 0, 0), ERROR.size)
    _KERNEL(address)(begin, dim, block, error)
    code, site, thread, index, length, *_ = ERROR.unpack(error.raw)
    used, _, end, _ = PRINTS.unpack_from(prints.raw)
    return Stop(code, site, thread, index, length, prints.raw[PRINTS.size :][: min(used, end)])


class Code:
    """Machine code of LLVM IR for a target that this processor runs; ``kinds`` are the parameters of its kernel."""

    def __init__(self, kinds: Sequence[Any], text: str, opt_level: int = 3, target: Target = HOST) -> None:
        self.kinds, self.wide = kinds, INDEX in text
        self.code = elf.load(llvm.compile_text(text, opt_level, target=target))

    def run(self, dim: int | Sequence[int], *args: Any, begin: int = 0) -> Stop:
        """Run the threads of a launch, from number ``begin`` on, and return the error block."""
        dims = [dim] if isinstance(dim, int) else dim
        return run(self.code.symbols[host.SYMBOL], math.prod(dims), argument_block(self.kinds, args, dims), begin)
