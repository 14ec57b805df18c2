"""From a kernel to a program: lowering, passes, code, cache."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

import sim_node
from sim_node.compiler.backend import elf, host, llvm
from sim_node.compiler.backend.target import HOST, Target
from sim_node.compiler.cache import Cache, folder
from sim_node.compiler.frontend import lower
from sim_node.compiler.ir.digest import digest
from sim_node.compiler.ir.function import Module, Site
from sim_node.compiler.ir.op import Op
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.guard import guard
from sim_node.compiler.passes.inline import inline
from sim_node.compiler.passes.pipeline import optimise
from sim_node.compiler.passes.scalarise import scalarise
from sim_node.dtypes import Type
from sim_node.errors import BuildError
from sim_node.lang.kernel import Kernel

_INSTRUCTIONS = (Op.FMA, Op.FLOOR, Op.CEIL, Op.TRUNC, Op.RINT)  # ops that not every x86-64 processor has


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel that can be launched.

    ``address`` is that of the function of ARCHITECTURE.md's ABI, ``sites`` what its errors index, ``digest`` the
    identity of its IR; ``owner`` keeps the code mapped, ``written`` names the array parameters that it stores to,
    ``dims`` is how many coordinates its ``tid()`` has, 0 where it never asks.
    """

    name: str
    address: int
    params: tuple[tuple[str, Type], ...]
    sites: tuple[Site, ...]
    digest: str
    owner: object
    written: frozenset[str]
    dims: int = 1


def build(kernel: Kernel, target: Target = HOST, layouts: Mapping[str, str] | None = None) -> Program:
    """Compile a kernel, or load it from the cache; ``layouts`` are of the array parameters that are not contiguous.

    Raises BuildError and its kinds, with place, reason and remedy, for what the language refuses.
    """
    return program(guarded(kernel, lower(kernel, layouts)), target, objects())


def guarded(kernel: Kernel, module: Module) -> Module:
    """The module with the guards that its kernel asks for; they are code, and so part of the digest."""
    if kernel.options.guards is None:
        return module
    return guard(scalarise(inline(verify(module))))


def program(module: Module, target: Target, store: Cache) -> Program:
    """Compile a lowered module.

    Functions are inlined before the digest is taken, and the digest is looked up before the costly passes run.
    """
    flat = inline(verify(module))
    function, identity = flat.entry, digest(flat)
    key = hashlib.sha256("\n".join((identity, target.identity, compiler())).encode()).hexdigest()
    try:
        code = store.code(key, lambda: llvm.compile_text(host.module(optimise(flat).entry)))
    except elf.UndefinedSymbolError as error:
        raise _lacking(flat, error) from error
    params = tuple((name, param.type) for name, param in zip(function.names, function.params) if param.type is not None)
    address = code.symbols[host.SYMBOL]
    return Program(function.name, address, params, function.sites, identity, code, function.written, function.dims)


def objects() -> Cache:
    """The cache of the folder that the environment names."""
    return _objects(folder())


@cache
def _objects(path: Path) -> Cache:
    return Cache(path)


def _lacking(flat: Module, error: elf.UndefinedSymbolError) -> BuildError:
    """Say what the processor cannot do: LLVM would call the C library, whose bits vary."""
    needing = [value for block in flat.entry.blocks for value in block.body if value.op in _INSTRUCTIONS]
    location = needing[0].location if needing else None
    what = f"this processor lacks an instruction that kernel '{flat.kernel}' needs ({error})"
    return BuildError(what, location, "a processor with SSE4.1 for floor, ceil, trunc and rint, with FMA3 for fma")


@cache
def compiler() -> str:
    """Identify what makes the object of a digest: package, LLVM, and the text of our own passes and back end."""
    hasher = hashlib.sha256(f"{sim_node.__version__}\n{metadata.version('llvmlite')}\n".encode())
    root = Path(__file__).parent
    # the types too: they say where in memory the parts of a struct lie, which the IR's text does not
    for part in (root / "ir", root / "passes", root / "backend", root.parent / "dtypes"):
        for path in sorted(part.glob("*.py")):
            hasher.update(path.read_bytes())
    return hasher.hexdigest()
