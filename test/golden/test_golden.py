"""The IR of known kernels, as the front end makes it and as the back end gets it, read and reviewed as text.

``SIM_NODE_GOLDEN=write pytest test/golden`` writes the files anew; the diff is what a change of the compiler did.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from sim_node.compiler.frontend import lower
from sim_node.compiler.ir.parser import parse
from sim_node.compiler.ir.printer import text
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.pipeline import optimise
from sim_node.lang.kernel import Kernel

HERE = Path(__file__).parent


def kernels() -> dict[str, Kernel]:
    spec = importlib.util.spec_from_file_location("golden_kernels", HERE / "kernels.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: value for name, value in vars(module).items() if isinstance(value, Kernel)}


KERNELS = kernels()


@pytest.mark.parametrize("name", KERNELS)
def test_ir(name):
    lowered = verify(lower(KERNELS[name]))
    made = {"lowered": text(lowered), "optimised": text(optimise(lowered))}
    for stage, ir in made.items():
        file = HERE / f"{name}.{stage}.ir"
        if os.environ.get("SIM_NODE_GOLDEN") == "write":
            file.write_text(ir)
        assert ir == file.read_text()
        assert text(parse(ir)) == ir


def test_no_file_is_left_over():
    wanted = {f"{name}.{stage}.ir" for name in KERNELS for stage in ("lowered", "optimised")}
    assert {file.name for file in HERE.glob("*.ir")} == wanted
