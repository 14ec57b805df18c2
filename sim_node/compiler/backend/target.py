"""What code is generated for, told without loading LLVM."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class Target:
    """A machine to generate code for, by name; ``host`` is the processor that this process runs on."""

    name: str

    @cached_property
    def identity(self) -> str:
        """Architecture, and a digest of the processor's model and features: equal ones run the same objects."""
        return f"{self.name}-{platform.machine()}-{_processor()}"


def _processor() -> str:
    """Digest what the kernel says of the first processor, the same lines that LLVM's choice of instructions follows."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n\n", 1)[0]
    except OSError:
        text = platform.processor()
    keys = ("vendor_id", "cpu family", "model", "stepping", "flags")
    lines = [line for line in text.splitlines() if line.split("\t", 1)[0].strip() in keys]
    return hashlib.sha256("\n".join(lines or [text]).encode()).hexdigest()[:16]


HOST = Target("host")
