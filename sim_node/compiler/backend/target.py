"""What code is generated for, told without loading LLVM."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class Target:
    """A machine to generate code for, by name.

    ``triple``, ``cpu`` and ``features`` are LLVM's words. ``host`` has none of its own: it is the processor that this
    process runs on.
    """

    name: str
    triple: str = ""
    cpu: str = ""
    features: str = ""

    @cached_property
    def identity(self) -> str:
        """Architecture, and a digest of the processor's model and features: equal ones run the same objects."""
        if self.cpu:
            return f"{self.name}{self.features}"
        return f"{self.name}-{platform.machine()}-{processor(Path('/proc/cpuinfo').read_text(errors='replace'))}"


def processor(cpuinfo: str) -> str:
    """Digest what Linux says of the first processor: its model and features, from which LLVM chooses instructions."""
    keys = ("vendor_id", "cpu family", "model", "stepping", "flags")
    first = cpuinfo.split("\n\n", 1)[0].splitlines()
    lines = [line for line in first if line.split(":")[0].strip() in keys]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


HOST = Target("host")
