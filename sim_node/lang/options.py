"""What an author may ask of the compiler for one kernel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Literal

from sim_node.errors import BuildError, BuildTypeError

FastMath = bool | Literal["reproducible"]

# Options of Warp's decorators that mean nothing here.
WARP = frozenset(
    {"module", "module_options", "enable_backward", "launch_bounds", "cluster_dim", "grid_stride", "inline",
     "cuda_max_registers", "enable_cuda_smem_spilling", "entry_point_abi"}
)  # fmt: skip

_CHOICES: dict[str, tuple[object, ...]] = {
    "deterministic": (True, False),
    "fast_math": (False, True, "reproducible"),
    "guards": (None, "clamp"),
}


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a kernel.

    ``deterministic``: refuse what depends on the order of threads. ``fast_math``: False (exact), "reproducible" (less
    accurate, the same bits everywhere) or True (neither). ``guards``: None, or "clamp" for those of the stability pass.
    """

    deterministic: bool = True
    fast_math: FastMath = False
    guards: Literal["clamp"] | None = None

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            if not any(value is one or (isinstance(one, str) and value == one) for one in allowed):
                raise BuildError(
                    f"the option {name} of @sn.kernel is {value!r}", remedy=" or ".join(repr(one) for one in allowed)
                )

    @property
    def code(self) -> str:
        """Those that change code although the IR is the same; part of the key of what was compiled, '' by default."""
        return "" if self.fast_math is not True else "fast_math"


DEFAULT = Options()


def accept(mark: str, names: Iterable[str]) -> None:
    """Let options of Warp's pass; raises BuildTypeError for any other."""
    for name in names:
        if name not in WARP:
            known = ", ".join(("name", *(field.name for field in fields(Options)))) if mark == "kernel" else "name"
            raise BuildTypeError(f"@sn.{mark} has no option '{name}'", remedy=f"its options are {known}")
