"""Kernels written as text in a test, and the modules beside this folder that several tests share."""

from __future__ import annotations

import itertools
import linecache
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sim_node as sn
from sim_node.dtypes import ArrayType

# interpreter.py and samples.py; import-mode is importlib, which puts no folder on the path
sys.path.insert(0, str(Path(__file__).parent.parent))

_count = itertools.count()


def _array(dtype: Any = float) -> ArrayType:
    from sim_node import dtypes

    return ArrayType(dtypes.element(dtype))


@pytest.fixture(scope="session")
def written() -> Callable[..., dict[str, Any]]:
    """Run source text as a file would be; the names it defines. ``sn`` and ``array(dtype=…)`` are there."""

    def run(text: str, **names: Any) -> dict[str, Any]:
        file = f"written{next(_count)}.py"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        names = {"sn": sn, "array": _array, "__name__": "written", **names}
        exec(compile(text, file, "exec"), names)
        return names

    return run
