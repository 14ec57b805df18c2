"""Arguments of the form ``name=value``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sim_node.errors import SimNodeError


def assignments(texts: Sequence[str], option: str) -> dict[str, Any]:
    """Read ``name=value`` texts; a value is JSON where it parses (1000, 2e4, true, [0, 0, 1]), else a string.

    Raises SimNodeError naming the option and the text.
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise SimNodeError(f"{option} {text}: write {option} name=value")
        if name in found:
            raise SimNodeError(f"{option} {text}: '{name}' is given twice")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def use_bundle(path: Path) -> None:
    """Let kernels come from a bundle; raises BundleError where it cannot be used."""
    from sim_node.compiler.bundle import use

    use(path)
