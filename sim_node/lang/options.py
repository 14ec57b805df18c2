"""What an author may ask of the compiler for one kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sim_node.errors import mistakes

FastMath = bool | Literal["reproducible"]

# Options of Warp's decorators and modules that mean nothing here.
WARP = frozenset(
    {"module", "module_options", "enable_backward", "launch_bounds", "cluster_dim", "grid_stride", "inline",
     "cuda_max_registers", "enable_cuda_smem_spilling", "max_unroll", "fuse_fp", "lineinfo", "mode",
     "block_dim", "strip_hash", "cuda_output", "compile_time_trace", "optimization_level"}
)  # fmt: skip

# What a module's kernels have where nothing is said.
DEFAULTS: dict[str, object] = {"deterministic": True, "fast_math": False, "guards": None, "enable_backward": False}

_CHOICES: dict[str, tuple[object, ...]] = {
    "deterministic": (True, False),
    "fast_math": (False, True, "reproducible"),
    "guards": (None, "clamp"),
}
# How a kernel is entered: only as launches do it, and Warp's other way is one of CUDA's.
_ENTRY = {"entry_point_abi": ("warp",)}


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a kernel.

    ``deterministic``: refuse what depends on the order of threads. ``fast_math``: False (exact), "reproducible" (less
    accurate, the same bits everywhere) or True (neither). ``guards``: None, or "clamp" for those of the stability pass.
    ``warp``: what else was asked for, which changes nothing.
    """

    deterministic: bool = True
    fast_math: FastMath = False
    guards: Literal["clamp"] | None = None
    warp: Mapping[str, object] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for name, allowed in {**_CHOICES, **_ENTRY}.items():
            value = self.get(name, "warp")
            if not any(value is one or (isinstance(one, str) and value == one) for one in allowed):
                raise mistakes.OPTION(
                    f"the option {name} of @sn.kernel is {value!r}", remedy=" or ".join(repr(one) for one in allowed)
                )

    @property
    def code(self) -> str:
        """Those that change code although the IR is the same; part of the key of what was compiled, '' by default."""
        return "" if self.fast_math is not True else "fast_math"

    def get(self, name: str, default: object = None) -> object:
        """Look up what was asked for by name, Warp's options too."""
        return getattr(self, name) if name in _CHOICES else self.warp.get(name, default)


def choose(given: Mapping[str, object], module: Mapping[str, object], mark: str = "kernel") -> Options:
    """Make options of what was given, and of what the module has for what was not.

    Raises BuildTypeError for an option that there is not, and for a value that one cannot have.
    """
    accept(mark, given)
    asked = {name: given.get(name) for name in _CHOICES}
    ours: dict[str, Any] = {name: module[name] if value is None else value for name, value in asked.items()}
    return Options(**ours, warp={name: value for name, value in given.items() if name not in _CHOICES})


def accept(mark: str, names: Iterable[str]) -> None:
    """Let options of Warp's pass, and a kernel's own; raises BuildTypeError for any other."""
    for name in names:
        if name not in WARP and name not in _ENTRY and not (mark == "kernel" and name in _CHOICES):
            known = ", ".join(("name", *_CHOICES)) if mark == "kernel" else "name"
            raise mistakes.OPTION(f"@sn.{mark} has no option '{name}'", remedy=f"its options are {known}")
