"""Machine code for tests: IR text or a module, run on numpy arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sim_node.compiler.backend import host
from sim_node.compiler.ir.function import Module
from sim_node.compiler.ir.parser import parse
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.pipeline import optimise

# machine.py, samples.py and interpreter.py; import-mode is importlib, which puts no folder on the path
sys.path.insert(0, str(Path(__file__).parent))

import machine

Execute = Callable[..., machine.Stop]


@pytest.fixture(scope="session")
def pack() -> Callable[..., bytes]:
    """Pack arguments as a launch does."""
    return machine.argument_block


@pytest.fixture
def execute() -> Execute:
    """Run ``dim`` threads of IR, optimised unless told not to, and return the error block."""

    def run(
        source: str | Module, dim: int, *args: Any, begin: int = 0, opt_level: int = 3, optimised: bool = True
    ) -> machine.Stop:
        module = verify(parse(source) if isinstance(source, str) else source)
        module = optimise(module) if optimised else module
        kinds = [param.type for param in module.entry.params]
        return machine.Code(kinds, host.module(module.entry), opt_level).run(dim, *args, begin=begin)

    return run
