"""Compare random kernels, bit for bit, under CPython and as machine code: unoptimised, optimised, and for each target.

    scripts/fuzz.py [--minutes M | --programs N] [--seed S] [--jobs J] [--device cuda:0] [--out FOLDER] [--most N]
                    [--report FILE]
    scripts/fuzz.py FILE         run one program again

Ends with 1 if there was a mismatch, by default the first, which is shrunk and saved as a file that reproduces it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import multiprocessing.connection
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sim_node.compiler.backend import llvm

# The generator belongs to the tests of the compiler.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test" / "compiler"))

from comparison import FORMS, Form, Mismatch, Outcome, run, statements
from shrinking import shrunk
from steps import program

SHRINK_S = 120.0  # of each mismatch
GRACE_S = 60.0  # for the programs that run when the time is up; what takes longer never ends


@dataclass
class Tally:
    """What ran: programs, statements in their text, how many of them each form agreed on and CPython executed."""

    programs: int = 0
    written: int = 0
    executed: int = 0
    forms: Counter[str] = field(default_factory=Counter)
    failed: list[tuple[int, Mismatch]] = field(default_factory=list)

    def add(self, seed: int, outcome: Outcome, written: int) -> None:
        """Count a program that ran to its end."""
        if outcome.mismatch is not None:
            self.failed.append((seed, outcome.mismatch))
        if not outcome.forms:
            return
        self.programs += 1
        self.written += written
        self.executed += outcome.executed
        self.forms.update(dict.fromkeys(outcome.forms, written))

    def __str__(self) -> str:
        found = {0: "no mismatch", 1: "a mismatch"}.get(len(self.failed), f"{len(self.failed)} mismatches")
        forms = ", ".join(f"{name} {self.forms[name]}" for name in self.forms)
        return (
            f"{self.programs} programs of {self.written} statements, of which CPython executed {self.executed}, "
            f"the same in every form ({forms}): {found}"
        )


def main(argv: list[str] | None = None) -> int:
    """Run the command; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="a program that was saved")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--programs", type=int, help="how many programs, instead of minutes")
    parser.add_argument("--seed", type=int, default=None, help="the first program's seed; others follow it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes that work on it")
    parser.add_argument("--device", help="a GPU to run each program on as well")
    parser.add_argument("--out", type=Path, default=Path("."), help="where failing programs are saved")
    parser.add_argument("--most", type=int, default=1, help="mismatches after which it ends (1); more are not shrunk")
    parser.add_argument("--report", type=Path, help="a file of JSON for what ran")
    options = parser.parse_args(argv)
    forms = (*FORMS, *(Form(name, True, 3, device=name) for name in filter(None, [options.device])))
    if options.file:
        return _again(options.file, forms)
    seed = int.from_bytes(os.urandom(4), "little") if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    began = time.monotonic()
    end = seed + options.programs if options.programs else None
    deadline = began + (1e9 if options.programs else 60 * options.minutes)
    tally = _shared(seed, end, deadline, options.jobs, options.most, forms)
    seconds = time.monotonic() - began
    print(f"{tally}, in {seconds:.0f} s", flush=True)
    if options.report:  # before anything is saved, which may fail
        options.report.write_text(json.dumps(_report(tally, seed, options.jobs, seconds), indent=1) + "\n")
    for number, found in tally.failed:
        _save(program(number), number, found, options.out, options.most == 1, forms)
    return 1 if tally.failed else 0


def _report(tally: Tally, seed: int, jobs: int, seconds: float) -> dict[str, Any]:
    """What ran, where, and what was found, for a reader of JSON."""
    failed = [
        {"seed": number, "kind": found.kind, "detail": found.detail, "file": _file(number)}
        for number, found in tally.failed
    ]
    versions = {"python": platform.python_version(), "numpy": np.__version__, "llvmlite": llvm.version()}
    return {
        "seed": seed,
        "jobs": jobs,
        "seconds": round(seconds, 1),
        "programs": tally.programs,
        "statements": tally.written,
        "forms": dict(tally.forms),
        "executed": tally.executed,
        "mismatches": failed,
        "versions": versions,
    }


# the work


class Worker:
    """A process that runs the programs of every so many seeds."""

    def __init__(
        self, first: int, end: int | None, step: int, deadline: float, results: Any, forms: Sequence[Form]
    ) -> None:
        fork = multiprocessing.get_context("fork")
        self.seed = fork.Value("q", first)
        self.seeds = end, step
        self.rest = deadline, results, forms
        self.process = fork.Process(target=self._run, daemon=True)
        self.process.start()

    def _run(self) -> None:
        deadline, results, forms = self.rest
        for seed in _seeds(self.seed.value, *self.seeds):
            if time.monotonic() > deadline:
                return
            self.seed.value = seed
            source = program(seed)
            results.put((seed, run(source, f"<seed {seed}>", seed, forms), statements(source)))

    @property
    def crashed(self) -> bool:
        """Whether the process ended in the middle of a program."""
        return self.process.exitcode not in (None, 0)

    def next(self) -> Worker:
        """Start another that goes on behind the program that ended this one."""
        end, step = self.seeds
        return Worker(self.seed.value + step, end, step, *self.rest)


def _seeds(first: int, end: int | None, step: int) -> Iterable[int]:
    seeds: Iterator[int] = itertools.count(first, step)
    return seeds if end is None else itertools.takewhile(lambda seed: seed < end, seeds)


def _shared(seed: int, end: int | None, deadline: float, jobs: int, most: int, forms: Sequence[Form]) -> Tally:
    """Run the programs of seeds in several processes, to the deadline or so many mismatches."""
    results = multiprocessing.get_context("fork").SimpleQueue()
    workers = [Worker(seed + at, end, jobs, deadline, results, forms) for at in range(jobs)]
    tally = Tally()
    while len(tally.failed) < most and (any(each.process.is_alive() for each in workers) or not results.empty()):
        for at, worker in enumerate(workers):
            if worker.crashed:
                told = f"the process ended with {worker.process.exitcode}"
                tally.add(worker.seed.value, Outcome(Mismatch("crash", told)), 0)
                workers[at] = worker.next()
        if not results.empty():
            tally.add(*results.get())
        elif time.monotonic() < deadline + GRACE_S:
            multiprocessing.connection.wait([worker.process.sentinel for worker in workers], 0.05)
        else:
            for worker in workers:
                if worker.process.is_alive():
                    tally.add(worker.seed.value, Outcome(Mismatch("crash", f"it runs {GRACE_S:.0f} s and more")), 0)
            break
    for worker in workers:
        worker.process.kill()
        worker.process.join()
    return tally


def _file(seed: int) -> str:
    return f"fuzz-{seed}.py"


def _save(source: str, seed: int, found: Mismatch, folder: Path, shrink: bool, forms: Sequence[Form]) -> None:
    print(f"seed {seed}: {found.kind}\n{found.detail}", flush=True)
    path = folder / _file(seed)
    if shrink and found.kind != "crash":
        print("shrinking …", flush=True)

        # one that no form tells needs none to be seen
        told = [form for form in forms if found.kind.startswith(f"{form.name} ")]

        def fails(smaller: str) -> bool:
            mismatch = run(smaller, str(path), seed, told).mismatch
            return mismatch is not None and mismatch.kind == found.kind

        source = shrunk(source, fails, SHRINK_S)
        print(source)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# seed {seed}\n{source}")
    print(f"saved: scripts/fuzz.py {path}")


def _again(path: Path, forms: Sequence[Form]) -> int:
    source = path.read_text()
    outcome = run(source, str(path), int(source.split()[2]), forms)
    found = outcome.mismatch
    print(f"{found.kind}\n{found.detail}" if found else f"{outcome.executed} statements executed: no mismatch")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
