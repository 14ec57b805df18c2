"""The identity of a module: equal digests mean equal code."""

from __future__ import annotations

import hashlib

from sim_node.compiler.ir.function import Module
from sim_node.compiler.ir.printer import called_in_order, text


def digest(module: Module) -> str:
    """SHA-256 of the module's text without the functions' names, in hex.

    Renamed variables, comments and formatting leave it as it is; every constant, captured ones too, is part of it.
    """
    names = {name: f"f{i}" for i, name in enumerate(called_in_order(module))}
    return hashlib.sha256(text(module, names).encode()).hexdigest()
