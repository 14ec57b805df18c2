"""One program run every way: under CPython, and as machine code, unoptimised and for each target, bit for bit."""

from __future__ import annotations

import ast
import copy
import linecache
import math
import traceback
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from functools import cache
from io import StringIO
from types import SimpleNamespace
from typing import Any

import gpu
import machine
import numpy as np
from arguments import arguments
from numpy.lib.recfunctions import repack_fields
from palette import EXTENTS

from sim_node.compiler.backend import elf, host
from sim_node.compiler.backend.target import HOST, TARGETS, Target
from sim_node.compiler.frontend import typed
from sim_node.compiler.ir.function import Module, Value
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.inline import inline
from sim_node.compiler.passes.pipeline import PASSES
from sim_node.compiler.passes.scalarise import scalarise
from sim_node.compiler.python.block import Block
from sim_node.compiler.python.code import RAISED, Code
from sim_node.compiler.python.rewrite import Rewriter
from sim_node.runtime.prints import show

STEPS = 1_000_000  # of one launch under CPython
INPUTS = 2  # of each program


@dataclass(frozen=True)
class Form:
    """A way to make machine code of a kernel: with all of our passes or the few that LLVM needs, and LLVM's level.

    Or that of a GPU, which ``device`` names.
    """

    name: str
    optimised: bool
    opt_level: int
    target: Target = HOST
    device: str = ""


# O0 is the IR as the front end leaves it; the others are what users run, on each target that this processor runs.
FORMS = (
    Form("O0", False, 0),
    Form("O3", True, 3),
    *(Form(name, True, 3, target) for name, target in TARGETS.items() if target.cpu and target.runs),
)


@dataclass(frozen=True)
class Mismatch:
    """What went wrong: the kind, which shrinking keeps, and the details."""

    kind: str
    detail: str


@dataclass
class Outcome:
    """How a program ended: a mismatch or none, the statements that CPython executed, and the forms that agreed.

    "lanes" is among them where some of these ran threads in the lanes of vectors.
    """

    mismatch: Mismatch | None = None
    executed: int = 0
    forms: list[str] = field(default_factory=list)


class EndlessError(Exception):
    """The program runs for too long to be worth it."""


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


def run(source: str, file: str, seed: int, forms: Sequence[Form] = FORMS) -> Outcome:
    """Run a program every way, up to the first mismatch."""
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": "fuzz"}
    exec(compile(source, file, "exec", dont_inherit=True), names)
    try:
        module, bodies = typed(names["k"], names.get("LAYOUTS", {}))
        flat = verify(inline(verify(module)))
        kinds = [param.type for param in flat.entry.params if param.type is not None]
        python = Counted(module, bodies, flat.entry, Block(kinds))
        codes = _codes(flat, forms)
    except Exception as error:  # a refusal, or a fault of the compiler's own: the program is well typed
        return Outcome(Mismatch(f"refused: {getattr(error, 'what', error)}", str(error)))
    finally:
        del linecache.cache[file]
    try:
        for number in range(INPUTS):
            python.limit = python.executed + STEPS
            mismatch = _compared(python, codes, seed + number)
            if mismatch is not None:
                return Outcome(mismatch, python.executed)
    except EndlessError:
        return Outcome()
    lanes = ["lanes"] if any(code.wide for code in codes.values()) else []
    return Outcome(None, python.executed, [*codes, *lanes])


def _codes(flat: Module, forms: Sequence[Form]) -> dict[str, machine.Code | gpu.Code]:
    """Make machine code in each form; a target that lacks an instruction that the kernel needs is left out."""
    known = set[Value]()
    plain = best = verify(scalarise(flat), scalarise.__name__, known)
    for change in PASSES[PASSES.index(scalarise) + 1 :]:
        best = verify(change(best), change.__name__, known)
    kinds, made = [param.type for param in flat.entry.params], dict[str, machine.Code | gpu.Code]()
    texts = cache(lambda full, bits: host.module(best.entry, bits) if full else host.module(plain.entry))
    for form in forms:
        if form.device:
            made[form.name] = gpu.Code(kinds, best.entry, form.device)
            continue
        try:
            text = texts(form.optimised, form.target.bits)
            made[form.name] = machine.Code(kinds, text, form.opt_level, form.target)
        except elf.UndefinedSymbolError:
            if form.target is HOST:
                raise
    return made


def _compared(python: Counted, codes: dict[str, machine.Code | gpu.Code], seed: int) -> Mismatch | None:
    """Compare the forms of a kernel on one set of inputs."""
    random = np.random.default_rng(seed)
    length = int(random.choice([1, 3, 9, 35, 150]))  # the last fills vectors
    more = int(random.random() < 0.05)  # threads than elements
    kinds, behind = python.block.types, [*EXTENTS.values()][: max(python.dims, 1) - 1]
    length = -(-length // math.prod(behind))
    args, dims = arguments(python.names, kinds, seed, (length, *behind)), (length + more, *behind)
    wanted = copy.deepcopy(args)
    with redirect_stdout(StringIO()) as written:
        stopped = machine.run(python.address, math.prod(dims), machine.argument_block(kinds, wanted, dims))
    if stopped.site == RAISED and stopped.code:
        raised = python.taken()
        if isinstance(raised, EndlessError):
            raise raised
        return Mismatch(f"CPython raises {type(raised).__name__}", "".join(traceback.format_exception(raised)))
    for name, code in codes.items():
        got = copy.deepcopy(args)
        stop = code.run(dims, *got)
        if _told(stop, python) != _told(stopped, python):
            return Mismatch(f"{name} stop", f"{name} stops with {stop}, CPython with {stopped} in {python.sites}")
        if (shown := _shown(stop, python)) != written.getvalue():
            return Mismatch(f"{name} prints", f"{name} prints\n{shown}\nCPython\n{written.getvalue()}")
        if stopped.code and isinstance(code, gpu.Code):
            continue  # threads behind the one that stopped have run too
        for at, (one, other) in enumerate(zip(got, wanted, strict=True)):
            if _bits(one) != _bits(other):
                where = python.names[at]
                return Mismatch(f"{name} memory", f"{name} leaves in {where}\n{one}\nCPython\n{other}")
    return None


def _shown(stop: machine.Stop, python: Counted) -> str:
    """What a launch writes of the records of a run."""
    with redirect_stdout(StringIO()) as written:
        show([SimpleNamespace(sites=python.sites)], stop.records, 0)  # type: ignore[list-item]
    return written.getvalue()


def _told(stop: machine.Stop, python: Counted) -> tuple[Any, ...]:
    """What a stop says; a statement that is written out more than once has as many sites that say the same."""
    return stop.code, python.sites[stop.site] if stop.code else None, stop.thread, stop.index, stop.length


def _bits(argument: Any) -> bytes:
    """The memory of an argument, also what of an array lies between its elements, and what these refer to."""
    if isinstance(argument, tuple):
        return b"".join(map(_bits, argument))
    if isinstance(argument, machine.Given) and argument.held:  # wherever that lies
        alone = replace(argument, memory=argument.memory.copy())
        alone.refer([None] * len(alone.held))
        return _bits((replace(alone, held=()), *(its for _, its in argument.held)))
    array = np.asarray(getattr(argument, "memory", argument))
    if array.dtype.names is not None:  # what lies between fields is nothing
        array = repack_fields(array, recurse=True)
    return bytes(array.tobytes())


def statements(source: str) -> int:
    """Count the statements in a program's functions."""
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    return sum(isinstance(node, ast.stmt) for each in functions for node in ast.walk(each)) - len(functions)
