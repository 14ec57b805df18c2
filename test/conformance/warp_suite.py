"""Runs Warp's own test files, unchanged, with the name ``warp`` bound to sim_node, and counts what passes.

``python test/conformance/warp_suite.py [--json] [--file NAME]… [-k PATTERN] [-j N]``. Installs nothing: warp-lang,
whose wheel carries the tests, comes with the extra ``bench``. Each file runs in its own process on the CPU; a case that
crashes or hangs is a failure and named, and the rest of its file runs in another process.
Exit code: 0 when at least 90 % of passed + failed pass and these are at least 400, 1 when not, 2 without warp-lang.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "warp_cases"))

import adapter  # noqa: E402 - beside this file

NAMES = [
    "arithmetic",
    "atomic",
    "bool",
    "codegen",
    "conditional",
    "constant_precision",
    "enum",
    "func",
    "generics",
    "implicit_init",
    "lerp",
    "lvalue",
    "math",
    "operators",
    "quat",
    "rand",
    "rounding",
    "smoothstep",
    "spatial",
    "special_values",
    "static",
    "struct",
    "subscript_types",
    "tuple",
    "unpack",
    "vec",
    "vec_constructors",
    "vec_scalar_ops",
    "array",
    "indexedarray",
    "launch",
    "noise",
    "intersect",
    "copy",
    "fp16",
    "print",
]
SHARE, LEAST = 0.9, 400
# Why a case that fails differs on purpose: file → pattern of the case's name → reason.
DIFFERENCES: dict[str, dict[str, str]] = json.loads((HERE / "warp_cases" / "differences.json").read_text())


@dataclass
class File:
    """One of Warp's test files: its module, and what its cases gave."""

    module: str
    outcomes: dict[str, dict[str, Any]] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """Where the file lies below ``warp/tests``."""
        return self.module.removeprefix("warp.tests.").replace(".", "/") + ".py"

    def those(self, outcome: str) -> dict[str, dict[str, Any]]:
        """Select the cases of one outcome: passed, failed or unsupported."""
        return {case: found for case, found in self.outcomes.items() if found["outcome"] == outcome}

    def counts(self) -> dict[str, int]:
        """Count the cases of each outcome."""
        return {outcome: len(self.those(outcome)) for outcome in ("passed", "failed", "unsupported")}

    def differs(self, case: str) -> str | None:
        """Look up why a case differs on purpose; None where nothing is written."""
        written = DIFFERENCES.get(self.name, {})
        return next((reason for pattern, reason in written.items() if case.startswith(pattern)), None)

    def json(self) -> dict[str, Any]:
        """Return the file's part of the object."""
        failures = {
            case: {"error": found["error"], "differs": self.differs(case)}
            for case, found in self.those("failed").items()
        }
        reasons = {case: found["reason"] for case, found in self.those("unsupported").items()}
        return {**self.counts(), "seconds": round(self.seconds, 1), "failures": failures, "reasons": reasons}


def files(folder: Path) -> list[File]:
    """List the files that count."""
    matrix = sorted(path.stem for path in (folder / "matrix").glob("test_*.py"))
    return [File(f"warp.tests.test_{name}") for name in NAMES] + [File(f"warp.tests.matrix.{name}") for name in matrix]


def lines(source: int, limit: float) -> Iterator[dict[str, Any] | None]:
    """Yield the messages of a process until it ends, None when it says nothing for ``limit`` seconds."""
    rest = b""
    while True:
        if not select.select([source], [], [], limit)[0]:
            yield None
            return
        read = os.read(source, 1 << 16)
        if not read:
            return
        *whole, rest = (rest + read).split(b"\n")
        yield from (json.loads(line) for line in whole)


def attempt(file: File, folder: Path, pattern: str, limit: float) -> bool:
    """Run the cases of a file that have no outcome yet; False when the process ended before its cases did."""
    ours, theirs = os.pipe()
    with tempfile.NamedTemporaryFile("w", suffix=".done") as done, tempfile.TemporaryFile() as output:
        done.write("\n".join(file.outcomes))
        done.flush()
        command = [sys.executable, str(HERE / "warp_cases" / "process.py"), file.module]
        command += ["--tests", str(folder), "--report", str(theirs), "-k", pattern, "--done", done.name]
        child = subprocess.Popen(command, pass_fds=[theirs], stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        os.close(theirs)
        running, hung = "import", False
        for message in lines(ours, limit):
            if message is None:
                hung = True
                child.kill()
                break
            running = message.pop("case")
            if message.get("outcome", "imported") != "imported":
                file.outcomes[running] = message
        os.close(ours)
        code = child.wait()
        if running == "end" or (running == "import" and running in file.outcomes):
            return True
        output.seek(0)
        how = f"no end within {limit:g} s" if hung else f"crash: {signal.Signals(-code).name if code < 0 else code}"
        said = output.read()[-2000:].decode(errors="replace")
        file.outcomes[running] = {"outcome": "failed", "error": how, "trace": said}
        return running == "import"


def run(file: File, folder: Path, pattern: str = "", limit: float = 120.0) -> File:
    """Run a file to its end, in as many processes as crashes need."""
    begin = time.monotonic()
    while not attempt(file, folder, pattern, limit):
        pass
    file.seconds = time.monotonic() - begin
    return file


def table(done: list[File], total: dict[str, int], verbose: bool) -> str:
    """Lay out what people read: a line a file, failures below."""
    rows = [f"{'file':42s} passed failed unsupported seconds"]
    for file in done:
        passed, failed, unsupported = file.counts().values()
        rows.append(f"{file.name:42s} {passed:6d} {failed:6d} {unsupported:11d} {file.seconds:7.1f}")
    rows.append(f"{'total':42s} {total['passed']:6d} {total['failed']:6d} {total['unsupported']:11d}")
    for file in done:
        for case, found in file.those("failed").items():
            rows.append(f"\n{file.name} {case}: {file.differs(case) or 'not on purpose'}")
            rows.append("    " + found["trace" if verbose else "error"].strip().replace("\n", "\n    "))
    return "\n".join(rows)


def main() -> int:
    """Run the files and print; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--file", action="append", help="a file's name, such as test_vec.py or matrix/test_mat.py")
    parser.add_argument("-k", dest="pattern", default="", help="only cases whose name holds this; * matches anything")
    parser.add_argument("-j", dest="jobs", type=int, default=1, help="files at a time")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds a case may take")
    parser.add_argument("--verbose", action="store_true", help="show where each failure was raised")
    options = parser.parse_args()
    folder = adapter.tests_folder()
    if folder is None:
        print("warp-lang is not installed, and its wheel holds the tests: make setup BENCH=1", file=sys.stderr)
        return 2
    chosen = files(folder)
    if options.file:
        named = {name.removesuffix(".py") for name in options.file}
        chosen = [file for file in chosen if file.name.removesuffix(".py") in named]
        missing = named - {file.name.removesuffix(".py") for file in chosen}
        if missing:
            print(f"no such file of Warp's tests here: {', '.join(sorted(missing))}", file=sys.stderr)
            return 2
    with ThreadPoolExecutor(max(options.jobs, 1)) as pool:
        done = list(pool.map(lambda file: run(file, folder, options.pattern, options.limit), chosen))
    total = {key: sum(file.counts()[key] for file in done) for key in ("passed", "failed", "unsupported")}
    if options.json:
        version = importlib.metadata.version("warp-lang")
        print(json.dumps({"total": total, "files": {file.name: file.json() for file in done}, "warp": version}))
    else:
        print(table(done, total, options.verbose))
    counted = total["passed"] + total["failed"]
    return 0 if counted >= LEAST and total["passed"] >= SHARE * counted else 1


if __name__ == "__main__":
    sys.exit(main())
