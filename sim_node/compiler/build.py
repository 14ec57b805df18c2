"""From a kernel to a program: lowering, passes, code, cache."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
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
from sim_node.compiler.passes.inline import inline
from sim_node.compiler.passes.pipeline import optimise
from sim_node.dtypes import Type
from sim_node.errors import BuildError
from sim_node.lang.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel that can be launched.

    ``address`` is that of the function of ARCHITECTURE.md's ABI, ``sites`` what its errors index, ``digest`` the
    identity of its IR; ``owner`` keeps the code mapped. ``written`` names the arrays that the kernel stores to.
    """

    name: str
    address: int
    params: tuple[tuple[str, Type], ...]
    sites: tuple[Site, ...]
    digest: str
    owner: elf.Code
    written: frozenset[str]


@dataclass(frozen=True, slots=True)
class Statistics:
    """What building a set of kernels took: how many were compiled, how many came from the cache."""

    kernels: int
    compiled: int
    cached: int
    seconds: float


def build(kernel: Kernel, target: Target = HOST) -> Program:
    """Compile a kernel, or load it from the cache.

    Raises BuildError and its kinds, with place, reason and remedy, for what the language refuses.
    """
    return program(lower(kernel), target, objects())


def program(module: Module, target: Target, store: Cache) -> Program:
    """Compile a lowered module.

    Functions are inlined before the digest is taken, and the digest is looked up before the costly passes run.
    """
    flat = verify(inline(verify(module)), "inline")
    function, identity = flat.entry, digest(flat)
    key = hashlib.sha256("\n".join((identity, target.identity, compiler())).encode()).hexdigest()
    code = store.code(key, lambda: _compile(flat))
    params = tuple((name, param.type) for name, param in zip(function.names, function.params) if param.type is not None)
    stored = {value.args[0] for block in function.blocks for value in block.body if value.op is Op.STORE}
    written = frozenset(name for name, param in zip(function.names, function.params) if param in stored)
    return Program(function.name, code.symbols[host.SYMBOL], params, function.sites, identity, code, written)


def build_all(kernels: Iterable[Kernel], target: Target = HOST) -> Statistics:
    """Build kernels ahead of their first launch."""
    store, start = objects(), time.perf_counter()
    before, count = store.compiled, 0
    for kernel in kernels:
        build(kernel, target)
        count += 1
    compiled = store.compiled - before
    return Statistics(count, compiled, count - compiled, time.perf_counter() - start)


def objects() -> Cache:
    """The cache of the folder that the environment names."""
    return _objects(folder())


@cache
def _objects(path: Path) -> Cache:
    return Cache(path)


def _compile(flat: Module) -> bytes:
    image = llvm.compile_text(host.module(optimise(flat).entry))
    try:
        elf.load(image)
    except elf.UndefinedSymbolError as error:
        location = next((site.location for site in flat.entry.sites), None)
        raise BuildError(
            f"this processor lacks an instruction that kernel '{flat.kernel}' needs: {error}",
            location,
            "run on a processor with SSE4.1 (floor, ceil, trunc, rint) and FMA3 (fma)",
        ) from error
    return image


@cache
def compiler() -> str:
    """Identify what makes the object of a digest: package, LLVM, and the text of our own passes and back end."""
    hasher = hashlib.sha256(f"{sim_node.__version__}\n{metadata.version('llvmlite')}\n".encode())
    root = Path(__file__).parent
    for folder_name in ("ir", "passes", "backend"):
        for path in sorted((root / folder_name).glob("*.py")):
            hasher.update(path.read_bytes())
    return hasher.hexdigest()
