"""From a kernel to a program: what is known of it already, or lowering, passes and code."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import string
import sys
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from sim_node.compiler import bundle
from sim_node.compiler.backend import elf, llvm, ptx
from sim_node.compiler.backend.target import Target
from sim_node.compiler.backend.toolchain import NATIVE, SYMBOL, Code, Toolchain, toolchain
from sim_node.compiler.cache import Cache, folder, limit
from sim_node.compiler.frontend import lower
from sim_node.compiler.frontend.fingerprint import Fingerprint, fingerprint
from sim_node.compiler.frontend.unit import laid
from sim_node.compiler.identity import backend, stamp
from sim_node.compiler.ir.digest import digest
from sim_node.compiler.ir.function import Module, Site
from sim_node.compiler.ir.op import Op
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.guard import guard
from sim_node.compiler.passes.inline import inline
from sim_node.compiler.passes.pipeline import optimise
from sim_node.compiler.passes.scalarise import scalarise
from sim_node.compiler.record import Record, RecordError, record
from sim_node.dtypes import Type
from sim_node.errors import AbsentError, BuildError, Location, mistakes
from sim_node.lang.annotation import annotation, evaluated
from sim_node.lang.kernel import Kernel

_INSTRUCTIONS = (Op.FMA, Op.FLOOR, Op.CEIL, Op.TRUNC, Op.RINT)  # ops that not every x86-64 processor has

# What names of files are made of: sets, for compiling a pattern takes as long as loading a kernel.
_WORD = frozenset(string.ascii_letters + string.digits + "_")
_OBJECT = _WORD | frozenset(".+-")
_TURN_S = 3e-5
_REMEDY = "build the bundle again from this source, or pip install llvmlite"


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


# Orders code: what it gives waits for it.
_Order = Callable[[Callable[[], Code]], Callable[[], Code]]

# What this process has built: of each kernel, for which layouts.
_built: MutableMapping[Kernel, list[dict[str, str]]] = weakref.WeakKeyDictionary()


def build(kernel: Kernel, chain: Toolchain = NATIVE, layouts: Mapping[str, str] | None = None) -> Program:
    """Compile a kernel, or load it from a bundle or the cache; ``layouts`` are of the arrays that are not contiguous.

    Raises BuildError and its kinds, with place, reason and remedy, for what the language refuses, and where there is
    no compiler; BundleError where a bundle in use is damaged.
    """
    with _no_collection():
        return _begun(kernel, chain, layouts, _in_turn)()


def build_all(kernels: Iterable[Kernel], chain: Toolchain = NATIVE) -> list[Program]:
    """Build several kernels; while LLVM compiles one, which it does without the interpreter, the next is lowered.

    Raises as ``build``, for the first kernel that cannot be compiled.
    """
    with _no_collection(), _quick_turns(), ThreadPoolExecutor(chain.side, "sim_node.llvm") as making:
        begun = deque([_begun(kernel, chain, None, lambda make: making.submit(make).result) for kernel in kernels])
        gc.collect(0)  # what lowering left in circles goes while LLVM is at work, and so does what is done, below
        return [begun.popleft()() for _ in range(len(begun))]


def _begun(kernel: Kernel, chain: Toolchain, layouts: Mapping[str, str] | None, order: _Order) -> Callable[[], Program]:
    """Find a kernel or lower it and order its code; what is returned waits for that."""
    store, told = objects(), fingerprint(kernel, layouts)
    found = _known(kernel, told, chain, store, layouts) if told else None
    wait = _made(kernel, told, chain, store, layouts, order) if found is None else lambda known=found: known

    def finish() -> Program:
        made = wait()
        wanted, variants = dict(layouts or {}), _built.setdefault(kernel, [])
        if wanted not in variants:
            variants.append(wanted)
        return made

    return finish


def _in_turn(make: Callable[[], Code]) -> Callable[[], Code]:
    """Order code from nobody else: it is made when it is waited for."""
    return make


@contextlib.contextmanager
def _quick_turns() -> Iterator[None]:
    """Let the thread that drives LLVM have the interpreter at once: it needs little of it, and often, between calls.

    There are some thirty calls a kernel, all but three of them short, and LLVM waits a turn behind each.
    """
    usual = sys.getswitchinterval()
    sys.setswitchinterval(min(usual, _TURN_S))
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Keep the garbage collector away: the compiler makes many objects, hardly any in circles, a tenth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextlib.contextmanager
def holding() -> Iterator[None]:
    """Let ``built`` have also the kernels that nobody else holds any more, as long as this runs."""
    global _built
    loose, _built = _built, dict(_built)
    try:
        yield
    finally:
        loose.update(_built)
        _built = loose


def built() -> list[tuple[Kernel, dict[str, str]]]:
    """Every kernel that this process has built and still holds, with the layouts of each variant."""
    return [(kernel, layouts) for kernel, variants in _built.items() for layouts in variants]


def guarded(kernel: Kernel, module: Module) -> Module:
    """The module with the guards that its kernel asks for; they are code, and so part of the digest."""
    if kernel.options.guards is None:
        return module
    return guard(scalarise(inline(verify(module))))


def program(module: Module, chain: Toolchain, store: Cache, order: _Order = _in_turn) -> Callable[[], Program]:
    """Order the code of a lowered module; what is returned waits for it and gives the program.

    Functions are inlined before the digest is taken, and the digest is looked up before the costly passes run.
    """
    flat = inline(verify(module))
    function, identity = flat.entry, digest(flat)
    name = object_name(chain.identity, identity)
    known = _bundled(identity, chain, store)
    if known is None and (known := store.known(name, chain)) is None:
        wait = order(partial(store.code, name, chain, partial(chain.image, chain.text(optimise(flat).entry))))

    def finish() -> Program:
        try:
            code = known or wait()
        except elf.UndefinedSymbolError as error:
            raise _lacking(flat, chain.target, error) from error
        kinds = [(name, param.type) for name, param in zip(function.names, function.params)]
        params = tuple((name, kind) for name, kind in kinds if kind is not None)
        address, written = code.symbols[SYMBOL], function.written
        return Program(function.name, address, params, function.sites, identity, code, written, function.dims)

    return finish


def member(kernel: Kernel, layouts: Mapping[str, str], targets: Sequence[Target]) -> bundle.Member:
    """Compile a kernel for every target of a bundle.

    Raises BuildError where a target lacks an instruction that the kernel needs.
    """
    told, store, made = fingerprint(kernel, layouts), objects(), build(kernel, layouts=layouts)
    flat = inline(verify(guarded(kernel, lower(kernel, layouts))))
    images = {}
    for target in targets:
        if target.is_gpu:
            images[target] = ptx.assembly(optimise(flat).entry, target.name).encode()
            continue
        name = object_name(target.identity, digest(flat))
        try:
            images[target] = store.image(name, target.machine, partial(_compiled, flat, toolchain(target)))
        except elf.UndefinedSymbolError as error:
            raise _lacking(flat, target, error) from error
    kept: dict[str, Any] | None = None
    if told is not None:
        with contextlib.suppress(RecordError):
            kept = _record(made).as_json(told.functions)
    key = told.key if told and kept else None
    params = {name: repr(kind) for name, kind in made.params}
    return bundle.Member(
        kernel.name, str(kernel.module), key, params, dict(layouts), kept or {"digest": made.digest}, images
    )


def maker() -> str:
    """Say which llvmlite compiles, or, where none is installed, compiled the bundles in use; '' for neither."""
    return llvm.version() or next((each.llvmlite for each in bundle.used()), "")


def objects() -> Cache:
    """The cache of the folder that the environment names."""
    return _objects(folder(), limit())


@cache
def _objects(path: Path, size: int) -> Cache:
    return Cache(path, size)


def object_name(chain: str, digest: str) -> str:
    """Name an object in the cache: the identity of its toolchain, what made it, digest of the IR."""
    return f"{chain}-llvmlite{llvm.version()}-{backend()[:12]}-{digest}"


# what is known without lowering


def _known(
    kernel: Kernel, told: Fingerprint, chain: Toolchain, store: Cache, layouts: Mapping[str, str] | None
) -> Program | None:
    """Find a kernel by its fingerprint, in a bundle or in the cache."""
    for each in bundle.used():
        kept = each.known(told.key, told.functions)
        code = _bundled(kept.digest, chain, store) if kept else None
        if kept and code:
            return _program(kernel, kept, code, layouts)
    name = _record_name(kernel, told, chain)
    found = store.record(name)
    if found is None:
        return None
    try:
        kept, file, made_by = record(found, told.functions), found["object"], found["llvmlite"]
        if not (isinstance(file, str) and file and _OBJECT.issuperset(file)):
            raise RecordError("it names no object")
    except (RecordError, KeyError, TypeError) as fault:
        store.refuse(f"{name}.json", str(fault))
        return None
    if llvm.version() not in (None, made_by):
        return None
    code = store.known(file, chain)
    return _program(kernel, kept, code, layouts) if code else None


def _made(
    kernel: Kernel,
    told: Fingerprint | None,
    chain: Toolchain,
    store: Cache,
    layouts: Mapping[str, str] | None,
    order: _Order,
) -> Callable[[], Program]:
    """Lower a kernel and order its code; when that is there, keep what the next process need not find out again."""
    wait = program(guarded(kernel, lower(kernel, layouts)), chain, store, order)

    def finish() -> Program:
        try:
            made = wait()
        except AbsentError as error:
            raise _absent(kernel, chain.target) from error
        _differing(kernel, made)
        if told is not None:
            with contextlib.suppress(RecordError):
                kept = _record(made).as_json(told.functions)
                names = {"object": object_name(chain.identity, made.digest), "llvmlite": llvm.version()}
                store.keep(_record_name(kernel, told, chain), {**names, **kept})
        return made

    return finish


def _record(made: Program) -> Record:
    return Record(made.digest, made.sites, made.written, made.dims)


def _record_name(kernel: Kernel, told: Fingerprint, chain: Toolchain) -> str:
    """Name a record: kernel, target, and a digest of what it was made from and by."""
    key = hashlib.sha256("\n".join((told.key, chain.identity, stamp())).encode()).hexdigest()
    name = "".join(letter if letter in _WORD else "_" for letter in kernel.name[:64])
    return f"{name}-{chain.target.name}-{key}"


def _program(kernel: Kernel, kept: Record, code: Code, layouts: Mapping[str, str] | None) -> Program | None:
    """Put a kept kernel together; its types are those of its annotations, since it has a fingerprint."""
    params: list[tuple[str, Type]] = []
    for name in kernel.parameters:
        kind = annotation(evaluated(kernel.annotations.get(name), kernel.function))
        if isinstance(kind, str):
            return None
        params.append((name, laid(kind, (layouts or {}).get(name))))
    address = code.symbols[SYMBOL]
    return Program(kernel.name, address, tuple(params), kept.sites, kept.digest, code, kept.written, kept.dims)


# what is not there


def _compiled(flat: Module, chain: Toolchain) -> bytes:
    return chain.image(chain.text(optimise(flat).entry))


def _bundled(digest: str, chain: Toolchain, store: Cache) -> Code | None:
    """Look a digest up in the bundles in use, which have objects of this processor's and PTX."""
    for each in bundle.used():
        code = _linked(each, digest, chain, store) if chain.target.is_gpu else each.code(digest)
        if code is not None:
            return code
    return None


def _linked(found: bundle.Bundle, digest: str, chain: Toolchain, store: Cache) -> Code | None:
    """Load the machine code that a GPU's driver makes of a bundle's PTX, which the cache keeps under the PTX's own."""
    read = found.assembly(digest, chain.target)
    if read is None:
        return None
    path, text = read
    name = f"{chain.identity}-bundled-{hashlib.sha256(text).hexdigest()}"
    try:
        return store.code(name, chain, partial(chain.link, text))
    except elf.ObjectError as fault:
        raise mistakes.BUNDLE(f"{path}: {fault}") from fault


def _lacking(flat: Module, target: Target, error: elf.UndefinedSymbolError) -> BuildError:
    """Say what the processor cannot do: LLVM would call the C library, whose bits vary."""
    needing = [value for block in flat.entry.blocks for value in block.body if value.op in _INSTRUCTIONS]
    location = needing[0].location if needing else None
    machine = f"target '{target.name}'" if target.cpu else "this processor"
    what = f"{machine} lacks an instruction that kernel '{flat.kernel}' needs ({error})"
    return mistakes.PROCESSOR(
        what, location, "a processor with SSE4.1 for floor, ceil, trunc and rint, with FMA3 for fma"
    )


def _differing(kernel: Kernel, made: Program) -> None:
    """Say that a kernel was compiled although a bundle has one of its name."""
    for each in bundle.used():
        if each.has_another(str(kernel.module), kernel.name, made.digest):
            warnings.warn(f"{_other(kernel, each)}; it was compiled", RuntimeWarning, stacklevel=2)


def _absent(kernel: Kernel, target: Target) -> BuildError:
    code = kernel.function.__code__
    place = Location(code.co_filename, code.co_firstlineno, 0, inside=code.co_name)
    used = bundle.used()
    for each in used:
        if each.has_another(str(kernel.module), kernel.name, ""):
            if not each.serves(target):
                lacking = target.name if target.is_gpu else "this processor"
                what = f"the bundle {each.path} has kernel '{kernel.name}', but nothing for {lacking}"
                remedy = f"build the bundle for {lacking}, too (--target), or pip install llvmlite"
                return mistakes.NO_COMPILER(f"{what}, and there is no compiler here", place, remedy)
            return mistakes.NO_COMPILER(f"{_other(kernel, each)}, and there is no compiler here", place, _REMEDY)
    where = f"in no bundle ({', '.join(str(each.path) for each in used)})" if used else "not in the cache"
    return mistakes.NO_COMPILER(f"kernel '{kernel.name}' is {where}, and there is no compiler here", place, _REMEDY)


def _other(kernel: Kernel, found: bundle.Bundle) -> str:
    what = f"the bundle {found.path} has another kernel '{kernel.name}'"
    return f"{what}: of other types or layouts of arrays, or its source, or a value that it captures, has changed since"
