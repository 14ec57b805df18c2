"""The atomic operations, by name: one table for the front end, the verifier and the back end."""

from __future__ import annotations

from dataclasses import dataclass

from sim_node.dtypes import Scalar, float16


@dataclass(frozen=True, slots=True)
class Atomic:
    """One row: kinds of scalars it takes, its operands, and whether floats come out otherwise in another order.

    Processors change words of 32 and 64 bits, and GPUs none narrower, except that they add f16 (``half``).
    """

    kinds: str
    operands: int = 1
    ordered: bool = False
    half: bool = False

    def takes(self, scalar: Scalar) -> bool:
        """Whether there is such an operation on a scalar."""
        return scalar.kind.value in self.kinds and (scalar.bits >= 32 or (self.half and scalar is float16))


ATOMICS: dict[str, Atomic] = {
    "add": Atomic("iuf", ordered=True, half=True),
    "sub": Atomic("iuf", ordered=True, half=True),
    "min": Atomic("iuf"),
    "max": Atomic("iuf"),
    "and": Atomic("iu"),
    "or": Atomic("iu"),
    "xor": Atomic("iu"),
    "exch": Atomic("iuf", ordered=True),
    "cas": Atomic("iuf", 2, ordered=True),
}
