"""Compare random kernels, bit for bit, under CPython and as machine code, unoptimised and optimised.

    scripts/fuzz.py [--minutes M | --programs N] [--seed S] [--jobs J] [--out FOLDER]
    scripts/fuzz.py FILE         run one program again

Ends with 1 at the first mismatch, after shrinking the program and saving it as a file that reproduces it.
"""

from __future__ import annotations

import argparse
import ast
import copy
import itertools
import linecache
import multiprocessing
import multiprocessing.connection
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.recfunctions import repack_fields

from sim_node.compiler.frontend import typed
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.inline import inline
from sim_node.compiler.passes.pipeline import optimise
from sim_node.compiler.passes.scalarise import scalarise
from sim_node.compiler.python.block import Block
from sim_node.compiler.python.code import RAISED, Code
from sim_node.compiler.python.rewrite import Rewriter
from sim_node.dtypes import Kind, Struct
from sim_node.lang.values.structure import memory_type
from sim_node.lang.values.value import canonical

# The generator belongs to the tests of the compiler.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test" / "compiler"))

import machine
from palette import COLUMNS
from programs import program

SHRINK_S = 120.0
STEPS = 1_000_000  # of one launch under CPython
FORMS = ("O0", "O3")
INPUTS = 2  # of each program


@dataclass(frozen=True)
class Mismatch:
    """What went wrong: the kind, which shrinking keeps, and the details."""

    kind: str
    detail: str


class EndlessError(Exception):
    """The program runs for too long to be worth it."""


def inputs(kinds: Sequence[Any], seed: int, length: int) -> list[Any]:
    """Make the arguments, full of edges: arrays to read and as many to write, an int and a float."""
    random = np.random.default_rng(seed)
    arrays = [_array(kind.dtype, (length, COLUMNS)[: kind.ndim], random) for kind in kinds if hasattr(kind, "ndim")]
    for at in range(len(arrays) // 2, len(arrays)):  # what no kernel writes stays: no NaN there but the canonical one
        arrays[at] = canonical(arrays[at])
    return [
        *arrays,
        np.int32(random.choice([-7, -1, 0, 2, 3, 2**31 - 1])),
        np.float32(random.choice([-0.75, 0.0, 3.1])),
    ]


def _array(kind: Any, shape: tuple[int, ...], random: np.random.Generator) -> Any:
    if isinstance(kind, Struct):
        array = np.zeros(shape, memory_type(kind))
        for name, part in kind.fields:
            array[name] = _array(part, shape, random)
        return array
    scalar, shape = kind.scalar, (*shape, *kind.shape)
    if scalar.kind is Kind.BOOL:
        return random.integers(0, 2, shape).astype(bool)
    small = random.integers(0 if scalar.kind is Kind.UINT else -9, 10, shape).astype(scalar.numpy)
    raw = np.frombuffer(random.bytes(int(np.prod(shape)) * scalar.size), scalar.numpy).reshape(shape)
    if scalar.is_float:
        limits = np.finfo(scalar.numpy)
        edges = [0.0, -0.0, np.inf, -np.inf, np.nan, limits.max, -limits.max, limits.tiny, limits.smallest_subnormal,
                 limits.eps, 1.0, -1.0, 0.5, 2.0**31, 2.0**63, -(2.0**31), 1e9 + 0.5, 2.0**24 + 1, 2049.0]  # fmt: skip
        plain = random.normal(0, 3, shape).astype(scalar.numpy)
    else:
        whole = np.iinfo(scalar.numpy)
        edges = [0, 1, 2, whole.max, whole.min, whole.max - 1, whole.min + 1, 31, 32, 63]
        plain = small
    with np.errstate(over="ignore"):
        edge = np.array(edges, scalar.numpy)[random.integers(0, len(edges), shape)]
    return np.choose(random.integers(0, 5, shape), [edge, raw, plain, small, edge]).astype(scalar.numpy)


class Counted(Code):
    """A kernel under CPython that counts the statements it executes, and gives up on one that goes on for too long."""

    def __init__(self, *args: Any) -> None:
        self.executed, self.limit = 0, STEPS
        super().__init__(*args)
        self.names = self.module.functions[self.module.kernel].names

    def tree(self, rewriter: Rewriter) -> ast.FunctionDef:
        """Let each block count its statements first."""
        tree = super().tree(rewriter)
        for node in [*ast.walk(tree)]:
            for name in ("body", "orelse"):
                block = getattr(node, name, None)
                if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                    call = rewriter.call(block[0], self.count, ast.Constant(len(block)))
                    block.insert(0, ast.copy_location(ast.Expr(call), block[0]))
        return ast.fix_missing_locations(tree)

    def count(self, statements: int) -> None:
        """Count statements."""
        self.executed += statements
        if self.executed > self.limit:
            raise EndlessError


def run(source: str, file: str, seed: int) -> tuple[Mismatch | None, int]:
    """Run a program every way; the first mismatch, and the statements that CPython executed."""
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": "fuzz"}
    exec(compile(source, file, "exec", dont_inherit=True), names)
    try:
        module, bodies = typed(names["k"])
        flat = inline(verify(module))
        kinds = [param.type for param in flat.entry.params if param.type is not None]
        python = Counted(module, bodies, flat.entry, Block(kinds))
        codes = machine.Code(verify(scalarise(flat)), 0), machine.Code(optimise(module), 3)
        forms = dict(zip(FORMS, codes))
    except Exception as error:  # a refusal, or a fault of the compiler's own: the program is well typed
        return Mismatch(f"refused: {getattr(error, 'what', error)}", str(error)), 0
    finally:
        del linecache.cache[file]
    for number in range(INPUTS):
        python.limit = python.executed + STEPS
        mismatch = _compared(python, forms, seed + number)
        if mismatch is not None:
            return mismatch, python.executed
    return None, python.executed


def _compared(python: Counted, forms: dict[str, machine.Code], seed: int) -> Mismatch | None:
    """Compare the forms of a kernel on one set of inputs."""
    random = np.random.default_rng(seed)
    length = int(random.choice([1, 3, 5, 9, 35]))
    dim = length + int(random.random() < 0.05)
    kinds = next(iter(forms.values())).kinds
    args = inputs(kinds, seed, length)
    wanted = copy.deepcopy(args)
    stopped = machine.run(python.address, dim, machine.argument_block(kinds, wanted, (dim,)))
    if stopped.site == RAISED and stopped.code:
        raised = python.taken()
        if isinstance(raised, EndlessError):
            return None
        return Mismatch(f"CPython raises {type(raised).__name__}", "".join(traceback.format_exception(raised)))
    for name, form in forms.items():
        got = copy.deepcopy(args)
        stop = form.run(dim, *got)
        if _told(stop, python) != _told(stopped, python):
            return Mismatch(f"{name} stop", f"{name} stops with {stop}, CPython with {stopped} in {python.sites}")
        for at, (one, other) in enumerate(zip(got, wanted, strict=True)):
            if _bits(one) != _bits(other):
                where = python.names[at]
                return Mismatch(f"{name} memory", f"{name} leaves in {where}\n{one}\nCPython\n{other}")
    return None


def _told(stop: machine.Stop, python: Counted) -> tuple[Any, ...]:
    """What a stop says; a statement that is written out more than once has as many sites that say the same."""
    return stop.code, python.sites[stop.site] if stop.code else None, stop.thread, stop.index, stop.length


def _bits(array: Any) -> bytes:
    array = np.asarray(array)
    if array.dtype.names is not None:  # what lies between fields is nothing
        array = repack_fields(array, recurse=True)
    return bytes(array.tobytes())


# shrinking


def shrunk(source: str, file: str, seed: int, found: Mismatch) -> tuple[str, Mismatch]:
    """Make the program smaller as long as it fails in the same way."""
    deadline = time.monotonic() + SHRINK_S
    source = ast.unparse(ast.parse(source)) + "\n"
    before = ""
    while before != source and time.monotonic() < deadline:
        before, at = source, 0
        while (smaller := _edited(source, at)) is not None and time.monotonic() < deadline:
            at += 1
            if len(smaller) >= len(source):
                continue
            try:
                mismatch, _ = run(smaller, file, seed)
            except Exception:  # no program any more
                continue
            if mismatch is not None and mismatch.kind == found.kind:
                source, found, at = smaller, mismatch, at - 1
    return source, found


def _edited(source: str, at: int) -> str | None:
    """Make one edit of a program, by its number; None where there is none."""
    tree = ast.parse(source)
    edit = next(itertools.islice(_edits(tree), at, None), None)
    if edit is None:
        return None
    edit()
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _edits(tree: ast.AST) -> Iterator[Callable[[], None]]:
    """Statements less, compound ones flattened, then expressions replaced by a part of them."""
    for node in ast.walk(tree):
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                for at, part in enumerate(value):
                    yield partial(_splice, value, at, [])
                    if isinstance(part, (ast.If, ast.For, ast.While)):
                        yield partial(_splice, value, at, part.body)
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            for child in ast.iter_child_nodes(value) if isinstance(value, ast.expr) else ():
                if isinstance(child, ast.expr):
                    yield partial(setattr, node, name, child)
            for at, part in enumerate(value) if isinstance(value, list) else ():
                for child in ast.iter_child_nodes(part) if isinstance(part, ast.expr) else ():
                    if isinstance(child, ast.expr):
                        yield partial(value.__setitem__, at, child)


def _splice(statements: list[ast.stmt], at: int, others: list[ast.stmt]) -> None:
    statements[at : at + 1] = others or ([] if len(statements) > 1 else [ast.Pass()])


# the command


@dataclass
class Tally:
    """What ran without a mismatch: programs, statements in their text, and statements that CPython executed."""

    programs: int = 0
    written: int = 0
    executed: int = 0

    def __str__(self) -> str:
        return (
            f"{self.programs} programs of {self.written} statements, of which CPython executed {self.executed}, "
            f"and {' and '.join(FORMS)} each as many"
        )


def main(argv: list[str] | None = None) -> int:
    """Run the command; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="a program that was saved")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--programs", type=int, help="how many programs, instead of minutes")
    parser.add_argument("--seed", type=int, default=None, help="the first program's seed; others follow it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes that work on it")
    parser.add_argument("--out", type=Path, default=Path("."), help="where a failing program is saved")
    options = parser.parse_args(argv)
    if options.file:
        return _again(options.file)
    seed = int.from_bytes(os.urandom(4), "little") if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    seeds = range(seed, seed + options.programs) if options.programs else itertools.count(seed)
    deadline = time.monotonic() + (1e9 if options.programs else 60 * options.minutes)
    tally, failed = _shared(seeds, deadline, options.jobs)
    print(f"{tally}: {'no mismatch' if failed is None else 'then a mismatch'}", flush=True)
    if failed is None:
        return 0
    return _save(program(failed[0]), *failed, options.out)


def _shared(seeds: Iterable[int], deadline: float, jobs: int) -> tuple[Tally, tuple[int, Mismatch] | None]:
    """Run the programs of seeds in several processes, to the deadline or the first that fails, which is returned."""
    fork = multiprocessing.get_context("fork")
    results, running = fork.SimpleQueue(), [fork.Value("q", 0) for _ in range(jobs)]
    workers = [
        fork.Process(target=_work, args=(itertools.islice(seeds, at, None, jobs), deadline, running[at], results))
        for at in range(jobs)
    ]
    for worker in workers:
        worker.start()
    tally, failed = Tally(), None
    while failed is None and (any(worker.is_alive() for worker in workers) or not results.empty()):
        for worker, seed in zip(workers, running):
            if worker.exitcode not in (None, 0):
                failed = seed.value, Mismatch("crash", f"the process ended with {worker.exitcode}")
        if results.empty():
            multiprocessing.connection.wait([worker.sentinel for worker in workers], 0.05)
            continue
        seed, mismatch, written, executed = results.get()
        if mismatch is not None:
            failed = seed, mismatch
        else:
            tally = Tally(tally.programs + 1, tally.written + written, tally.executed + executed)
    for worker in workers:
        worker.kill()
        worker.join()
    return tally, failed


def _work(seeds: Iterable[int], deadline: float, running: Any, results: Any) -> None:
    for seed in seeds:
        if time.monotonic() > deadline:
            return
        running.value = seed
        source = program(seed)
        mismatch, executed = run(source, f"<seed {seed}>", seed)
        written = sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(source)))
        results.put((seed, mismatch, written, executed))


def _save(source: str, seed: int, mismatch: Mismatch, folder: Path) -> int:
    print(f"seed {seed}: {mismatch.kind}\n{mismatch.detail}\nshrinking …", flush=True)
    if mismatch.kind != "crash":
        source, mismatch = shrunk(source, f"<seed {seed}>", seed, mismatch)
    path = folder / f"fuzz-{seed}.py"
    path.write_text(f"# seed {seed}\n{source}")
    print(f"{source}\n{mismatch.detail}\nsaved: scripts/fuzz.py {path}")
    return 1


def _again(path: Path) -> int:
    source = path.read_text()
    mismatch, executed = run(source, str(path), int(source.split()[2]))
    print(f"{mismatch.kind}\n{mismatch.detail}" if mismatch else f"{executed} statements executed: no mismatch")
    return 1 if mismatch else 0


if __name__ == "__main__":
    sys.exit(main())
