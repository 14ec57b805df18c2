"""A toolchain turns a function into text, an image and code."""

from __future__ import annotations

import ctypes

from samples import SAMPLES

from sim_node.compiler.backend.target import HOST, TARGETS
from sim_node.compiler.backend.toolchain import NATIVE, SYMBOL, toolchain
from sim_node.compiler.frontend import lower
from sim_node.compiler.passes.pipeline import optimise


def test_what_it_makes_can_be_called():
    code = NATIVE.load(NATIVE.image(NATIVE.text(optimise(lower(SAMPLES["arithmetic"])).entry)))
    kernel = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_char_p, ctypes.c_char_p)
    kernel(code.symbols[SYMBOL])(0, 0, bytes(256), bytes(64))  # no threads


def test_one_is_of_one_target():
    chains = [toolchain(target) for target in TARGETS.values()]
    assert len({chain.identity for chain in chains}) == len(chains)
    assert NATIVE.target is HOST
