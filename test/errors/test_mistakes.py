"""The catalogue is whole: what language, compiler and launches refuse has a code, and a code means one thing."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import sim_node
from sim_node import errors
from sim_node.errors import BuildNameError, Location, SimNodeError, mistakes
from sim_node.errors.mistakes import CATALOGUE, GROUPS

PACKAGE = Path(str(sim_node.__file__)).parent
TOLD = ("lang", "compiler", "runtime", "device", "dtypes")
# Raised inside of the package, and never seen by who made a mistake → why.
INSIDE = {
    "ObjectError": "tells the cache or the bundle about an object, which names it",
    "UndefinedSymbolError": "an ObjectError, told as SN603",
    "RecordError": "tells the cache or the bundle about a record, which names it",
    "VerifyError": "a fault of a pass",
    "CodegenError": "a fault of the back end",
    "StopError": "ends a thread of the device python, told as SN501 to SN504",
    "UntoldError": "a kernel that has no fingerprint is compiled",
    "UnknownError": "what the build does not know is left to the run",
    "OutsideError": "becomes SN101 or SN104",
    "ObstacleError": "a kernel whose threads stay apart is compiled, one thread after the other",
}
FAMILIES = {name for name, thing in vars(errors).items() if isinstance(thing, type) and issubclass(thing, errors.Coded)}


def modules() -> Iterator[Path]:
    for folder in TOLD:
        yield from sorted((PACKAGE / folder).rglob("*.py"))


def last(node: ast.expr | None) -> str:
    """The name that an expression ends with."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def test_codes_are_numbered_in_their_groups_and_titles_differ():
    assert all(re.fullmatch(r"SN\d\d\d", code) and code[:3] in GROUPS for code in CATALOGUE)
    assert list(CATALOGUE) == sorted(CATALOGUE)
    assert len({mistake.title for mistake in CATALOGUE.values()}) == len(CATALOGUE)
    named = {name: thing for name, thing in vars(mistakes).items() if isinstance(thing, mistakes.Mistake)}
    assert list(named.values()) == list(CATALOGUE.values())


@pytest.mark.parametrize("path", [*modules()], ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_what_is_refused_has_a_code(path):
    """An error of the package's families is made by the catalogue; Python's own mean here what they mean in numpy."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        where = f"{path.name}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Call):
            made = {last(node.func)} | ({last(node.args[0])} if node.args and last(node.func) == "error" else set())
            assert not made & FAMILIES, f"{where} makes an error without a code"
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            name = last(node.exc.func)
            if name.endswith("Error"):
                assert hasattr(builtins, name) or name in INSIDE, f"{where} raises {name}, which the catalogue lacks"


def test_every_code_is_used():
    used = {
        node.attr
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and last(node.value) == "mistakes"
    }
    named = {name for name, thing in vars(mistakes).items() if isinstance(thing, mistakes.Mistake)}
    assert named <= used, f"no mistake of these kinds is told: {named - used}"


def test_the_first_line_ends_with_the_code():
    error = mistakes.UNKNOWN_NAME("'y' is not defined", Location("plant.py", 7, 4, "    x = y"), "define it")
    assert isinstance(error, BuildNameError)
    assert error.code == "SN101"
    assert error.what == "'y' is not defined"
    first, *rest = str(error).splitlines()
    assert first == "plant.py:7:5: 'y' is not defined [SN101]"
    assert rest[-1] == "  instead: define it"
    assert str(mistakes.NO_THREAD("nowhere")) == "nowhere [SN714]"
    assert str(SimNodeError("of another part")) == "of another part"
