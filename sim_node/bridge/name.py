"""The name of a ring: a node's name with ``/`` written as ``.``."""

from __future__ import annotations

import re

from sim_node.errors import RingError

LONGEST = 200  # of the 255 bytes that a file name may have
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def ring_name(node: str) -> str:
    """Turn a node's name (``plant``, ``/plant``, ``/arm/plant``) into a ring's (``plant``, ``arm.plant``).

    Raises RingError saying what is wrong with the name.
    """
    parts = node.removeprefix("/").split("/")
    if not all(_PART.fullmatch(part) for part in parts):
        raise RingError(
            f"{node!r} is not a name for a ring: write a node's name such as 'plant' or '/arm/plant', "
            "each part of letters, digits, '_', '.' and '-', starting with a letter, digit or '_'"
        )
    name = ".".join(parts)
    if len(name) > LONGEST:
        raise RingError(f"the name of a ring has at most {LONGEST} characters, not {len(name)}: {name[:40]}…")
    return name
