"""Which mistakes of the package the tests of a whole run have made: a message that no test has seen fails the run."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import sim_node
from sim_node.errors.mistakes import Mistake

PACKAGE = Path(str(sim_node.__file__)).parent
# Made only in processes of their own → where.
ELSEWHERE = {
    "compiler/build.py:_absent": "compiler/test_bundle.py hides llvmlite from a process",
    "compiler/backend/llvm.py:_binding": "compiler/test_bundle.py hides llvmlite from a process",
}
_seen = pytest.StashKey[set[str]]()
_untold = pytest.StashKey[list[str]]()


def places() -> Iterator[tuple[str, str]]:
    """Every place in the package that makes a mistake, as FILE:LINE, and as FILE:FUNCTION; a table's are its rows."""
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(PACKAGE).as_posix()
        for start, _, name in calls(path):
            yield f"{file}:{start}", f"{file}:{name}"


@cache
def calls(path: Path) -> tuple[tuple[int, int, str], ...]:
    """First and last line, and function, of each call that is given a row of the catalogue or calls one."""
    found = []
    for function in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and any(_is_row(part) for part in (node.func, *node.args[:1])):
                    found.append((node.lineno, node.end_lineno or node.lineno, function.name))
    return tuple(found)


def _is_row(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "mistakes"


@cache
def spot(file: str, line: int) -> str:
    """The place that a line of code belongs to, if any."""
    path = Path(file)
    if PACKAGE in path.parents:
        for start, end, _ in calls(path):
            if start <= line <= end:
                return f"{path.relative_to(PACKAGE).as_posix()}:{start}"
    return ""


def place(frame: FrameType | None) -> str:
    """The place that a call of a row comes from: the innermost that names one."""
    while frame is not None:
        where = spot(frame.f_code.co_filename, frame.f_lineno)
        if where:
            return where
        frame = frame.f_back
    return ""


@pytest.hookimpl
def pytest_configure(config: pytest.Config) -> None:
    """Note from here on where mistakes are made."""
    seen = config.stash[_seen] = set[str]()
    make = Mistake.__call__

    def noted(self: Mistake[Any], *told: Any, **named: Any) -> Any:
        seen.add(place(sys._getframe(1)))
        return make(self, *told, **named)

    Mistake.__call__ = noted  # type: ignore[method-assign]
    config.add_cleanup(lambda: setattr(Mistake, "__call__", make))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what a worker noted."""
    node.config.stash[_seen].update(getattr(node, "workeroutput", {}).get("told", ()))


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Send what was noted; or, where that was a whole run and all is well, fail it for what nobody noted."""
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["told"] = sorted(config.stash[_seen])
    elif session.exitstatus == pytest.ExitCode.OK and whole(config):
        config.stash[_untold] = untold(config.stash[_seen])
        if config.stash[_untold]:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
    yield


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name the places."""
    for where in config.stash.get(_untold, []):
        terminalreporter.write_line(f"FAILED: no test makes the mistake told in sim_node/{where}", red=True)


def whole(config: pytest.Config) -> bool:
    """Whether all tests are run: none was chosen by a path, a name or a mark, or for having failed."""
    chosen = ("keyword", "markexpr", "lf", "failedfirst", "deselect", "ignore", "stepwise")
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS and not any(
        config.getoption(name, None) for name in chosen
    )


def untold(seen: set[str]) -> list[str]:
    """The places that nobody noted."""
    return sorted({line for line, function in places() if line not in seen and function not in ELSEWHERE})
