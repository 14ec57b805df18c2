"""What the compiler makes of a kernel, step by step, and what can be told of the code that comes out."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sim_node.compiler.backend import host, isa, llvm, ptx
from sim_node.compiler.backend.target import HOST
from sim_node.compiler.build import guarded
from sim_node.compiler.frontend import lower
from sim_node.compiler.ir import cfg, printer
from sim_node.compiler.ir.function import Function, Module, Value
from sim_node.compiler.ir.op import Op
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.pipeline import PASSES
from sim_node.errors import Location
from sim_node.lang.kernel import Kernel

_CHECKS = (Op.BOUNDS, Op.CHECK)
_LANES = re.compile(r"<(\d+) x (?:half|float|double|i8|i16|i32|i64)>")


@dataclass(frozen=True, slots=True)
class Check:
    """A check of the source: its site, and its state: 'removed', 'hoisted' out of the loop over threads, or 'kept'."""

    kind: str
    subject: str
    location: Location | None
    state: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """All that is known: texts by stage (the passes, then 'llvm' and 'code'), the checks, and figures of the code.

    ``stack`` is bytes a thread, or a call on the host; ``registers`` are by kind, physical ones except PTX's own names
    of kinds; ``lanes`` is how many threads run in a vector, 1 where none do, and ``why`` then says why.
    """

    name: str
    target: str
    stages: dict[str, str]
    checks: tuple[Check, ...]
    stack: int
    registers: dict[str, int]
    lanes: int
    why: tuple[str, ...]


def inspection(kernel: Kernel, target: str = "host") -> Inspection:
    """Compile a kernel for a target, ``host`` or a GPU as ``sm_90``, and keep what each step made.

    Raises BuildError and its kinds for what the language refuses, and for a target that there is not.
    """
    gpu = None if target == "host" else isa.gpu(target)
    lowered = verify(lower(kernel))
    stages, module = {"lower": printer.text(lowered)}, guarded(kernel, lowered)
    if module is not lowered:
        stages["guard"] = printer.text(module)
    flat = module
    for change in PASSES:
        module = verify(change(module), change.__name__)
        stages[change.__name__] = printer.text(module)
        flat = module if change is PASSES[0] else flat
    function = module.entry
    how = None if gpu else host.form(function, HOST.bits)
    rows = how.rows if how else None
    hoisted = rows.sites if rows else frozenset[int]()
    if rows:
        stages["hoist"] = "".join(printer.text(Module(f.name, {f.name: f})) for f in (rows.safe, rows.free))
    if gpu:
        stages["llvm"] = llvm.optimised_text(ptx.module(function, gpu), target=gpu)
        stages["code"] = ptx.assembly(function, target)
        stack, registers = _gpu_figures(stages["code"], target)
        lanes = 1
        why: tuple[str, ...] = ("each thread of a GPU is a lane of its own",)
    else:
        text = host.module(function, HOST.bits)
        stages["llvm"] = llvm.optimised_text(text)
        stages["code"] = llvm.assembly(text)
        stack, registers = _host_figures(stages["code"])
        assert how is not None
        lanes, why = _lanes(function, how, stages["llvm"])
    checks = _checks(flat.entry, function, hoisted)
    return Inspection(kernel.name, target, stages, checks, stack, registers, lanes, why)


def _lanes(function: Function, how: host.Form, text: str) -> tuple[int, tuple[str, ...]]:
    """Tell how many threads run in a vector; where it is one, why."""
    if how.wide:
        return how.wide[0].lanes, ()
    if "vector.body" in text:
        return max(map(int, _LANES.findall(text)), default=1), ()
    return 1, _obstacles(how.rows.free if how.rows else function) or (how.why,)


def _checks(before: Function, after: Function, hoisted: frozenset[int]) -> tuple[Check, ...]:
    left = {value.number: value for value in _values(after) if value.op in _CHECKS}
    sites = dict.fromkeys(value.number for value in _values(before) if value.op in _CHECKS)
    found = []
    for number in sites:
        site, value = before.sites[number], left.get(number)
        state = "removed" if value is None else "hoisted" if number in hoisted else "kept"
        found.append(Check(site.kind, site.subject, site.location, state))
    return tuple(found)


def _obstacles(function: Function) -> tuple[str, ...]:
    """Tell from the code what keeps threads out of vectors; LLVM's own remarks are not to be had through llvmlite."""
    found = []
    for value in _values(function):
        if value.op in _CHECKS:
            site = function.sites[value.number]
            found.append(f"{site.location}: the check of {site.subject} ({site.kind}) may stop any thread")
        elif value.op is Op.ATOMIC:
            found.append(f"{value.location}: an atomic operation is one thread's at a time")
    if cfg.has_loop(function):
        found.append("a loop runs for each thread as long as it needs")
    return tuple(dict.fromkeys(found))


def _values(function: Function) -> list[Value]:
    return [value for block in function.blocks for value in block.body]


def _host_figures(code: str) -> tuple[int, dict[str, int]]:
    """Read the assembly of x86-64 or aarch64: the largest frame, and how many registers of each kind are named."""
    frames = re.findall(r"\bsubq\s+\$(\d+), %rsp|\bsub\s+sp, sp, #(\d+)", code)
    pushed = 8 * len(re.findall(r"\bpushq\s", code))
    kinds = {"general": r"%(r[a-ds]?[a-z0-9]+)\b|\b(x\d+)\b", "vector": r"%[xyz](mm\d+)\b|\b[vqds](\d+)\b"}
    counts = {
        kind: len({name for pair in re.findall(pattern, code) for name in pair if name and name not in ("rsp", "rip")})
        for kind, pattern in kinds.items()
    }
    return max((int(a or b) for a, b in frames), default=0) + pushed, counts


def _gpu_figures(code: str, target: str) -> tuple[int, dict[str, int]]:
    """Ask NVIDIA's assembler where it is installed; else read PTX, whose registers have no limit yet."""
    stack = sum(int(size) for size in re.findall(r"\.local\b.*\[(\d+)\];", code))
    entry = code[code.index(".entry") :]
    registers = {kind: int(count) - 1 for kind, count in re.findall(r"\.reg \.(\w+)\s+%\w+<(\d+)>", entry)}
    if shutil.which("ptxas") is None:
        return stack, {f"virtual {kind}": count for kind, count in registers.items()}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "k.ptx").write_text(code)
        command = ["ptxas", "-v", f"-arch={target}", "k.ptx", "-o", "k.cubin"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    used, frame = re.search(r"Used (\d+) registers", done.stderr), re.findall(r"(\d+) bytes stack frame", done.stderr)
    if done.returncode or used is None:
        return stack, {f"virtual {kind}": count for kind, count in registers.items()}
    return max(map(int, frame), default=stack), {"physical": int(used[1])}
