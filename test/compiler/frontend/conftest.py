"""Kernels written as text in a test, and the modules beside this folder that several tests share."""

from __future__ import annotations

import itertools
import linecache
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sim_node as sn
from sim_node import dtypes
from sim_node.compiler.frontend import lower
from sim_node.dtypes import ArrayType
from sim_node.errors import BuildError

# interpreter.py and samples.py; import-mode is importlib, which puts no folder on the path
sys.path.insert(0, str(Path(__file__).parent.parent))

HEAD = """@sn.kernel
def k(x: array(), d: array(sn.float64), a: array(int), p: array(sn.vec3), n: int, s: float, flag: bool):
"""

_count = itertools.count()


def _array(dtype: Any = float) -> ArrayType:
    return ArrayType(dtypes.element(dtype))


def _written(text: str, **names: Any) -> dict[str, Any]:
    file = f"written{next(_count)}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {"sn": sn, "np": np, "array": _array, "__name__": "written", **names}
    exec(compile(text, file, "exec", dont_inherit=True), names)
    return names


@pytest.fixture(scope="session")
def written() -> Callable[..., dict[str, Any]]:
    """Run source text as a file would be; the names it defines. ``sn`` and ``array(dtype)`` are there."""
    return _written


@pytest.fixture(scope="session")
def kernel() -> Callable[..., Any]:
    """A kernel over x (f32), d (f64), a (i32), p (vec3), n, s, flag with the statements of the text."""

    def make(body: str, **names: Any) -> Any:
        return _written(HEAD + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n", **names)["k"]

    return make


@pytest.fixture(scope="session")
def refusal(kernel: Any) -> Callable[..., BuildError]:
    """Lower a kernel that is refused; ``¦`` in its text is where the caret must be. The error, for more checks."""

    def refuse(body: str, family: type[BuildError], what: str, remedy: str = "", **names: Any) -> BuildError:
        clean = body.replace("¦", "")
        made = kernel(clean, **names)
        with pytest.raises(BuildError) as caught:
            lower(made)
        error = caught.value
        assert type(error) is family, error
        assert what in error.what, error
        assert remedy in error.remedy, error
        assert bool(remedy) == bool(error.remedy), error
        before = textwrap.dedent(body).strip("\n").split("¦")[0]
        assert error.location is not None
        assert error.location.line == 3 + before.count("\n"), error
        assert error.location.column == 4 + len(before.rpartition("\n")[2]), error
        return error

    return refuse
