"""The atomic operations, by name: one table for the front end, the verifier and the back end."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Atomic:
    """One row: kinds of scalars it takes, its operands, and whether floats come out otherwise in another order."""

    kinds: str
    operands: int = 1
    ordered: bool = False


ATOMICS: dict[str, Atomic] = {
    "add": Atomic("iuf", ordered=True),
    "sub": Atomic("iuf", ordered=True),
    "min": Atomic("iuf"),
    "max": Atomic("iuf"),
    "and": Atomic("iu"),
    "or": Atomic("iu"),
    "xor": Atomic("iu"),
    "exch": Atomic("iuf", ordered=True),
    "cas": Atomic("iuf", 2, ordered=True),
}
