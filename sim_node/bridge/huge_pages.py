"""Huge pages: asked for by madvise(2), and counted."""

from __future__ import annotations

import mmap
import re
from pathlib import Path

import numpy as np

_ADVISE, _COLLAPSE = 14, 25  # MADV_HUGEPAGE, MADV_COLLAPSE of asm-generic/mman-common.h, which Python may not name
_SIZE = Path("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")
_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) ")
_HUGE = re.compile(r"(?:AnonHugePages|ShmemPmdMapped|FilePmdMapped): +(\d+) kB")


def gather(memory: mmap.mmap) -> str:
    """Make whole huge pages of the pages of this memory, which stays as it is; returns why not, '' where they are."""
    size = int(_SIZE.read_text()) if _SIZE.is_file() else 0
    if not size:
        return "this kernel has no transparent huge pages"
    if len(memory) < 2 * size:  # it need not begin at one
        return f"{len(memory)} bytes are not sure to hold a huge page of {size}"
    try:
        memory.madvise(_ADVISE)
        memory.madvise(_COLLAPSE)
    except OSError as error:
        return (
            f"the kernel makes none here ({error.strerror}): for /dev/shm mount it so "
            "('mount -o remount,huge=advise /dev/shm'), have free memory in one piece, and Linux 6.1 or later"
        )
    return "" if count(memory) else "the kernel made none"


def count(memory: mmap.mmap) -> int:
    """Count the bytes of this mapping that lie in huge pages; each is looked at, and so becomes this process's."""
    memory[:: 1 << 20]  # touch what was not
    start = int(np.frombuffer(memory, np.uint8).ctypes.data)
    found, inside = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if mapping := _MAPPING.match(line):
            low, high = (int(word, 16) for word in mapping.groups())
            inside = low < start + len(memory) and high > start
        elif inside and (pages := _HUGE.match(line)):
            found += int(pages[1]) << 10
    return found
