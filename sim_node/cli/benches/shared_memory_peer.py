"""A peer of the bridge bench: ``multiprocessing.shared_memory``, which a reader polls for a count.

Two buffers take turns, and the count says how many were filled: the least that Python's own library needs. Nothing
keeps the writer from a buffer that is being read, and nobody notices a death.
"""

from __future__ import annotations

import json
import sys
import time
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
HEAD = 64  # bytes: the count, on a line of its own


def main(name: str, nbytes: int, last: int) -> None:
    """Poll until buffer number ``last``; print ``ready``, then ages in ns since the writer's stamp."""
    memory = SharedMemory(name)
    resource_tracker.unregister(f"/{memory.name}", "shared_memory")  # it is the writer's
    count, buffers = views(memory, nbytes)
    ages, seen = [], 0
    for buffer in buffers:
        buffer[::1024].sum()  # touch each page now
    print("ready", flush=True)
    while seen < last:
        now_seen = int(count[0])
        if now_seen == seen:
            continue
        seen = now_seen
        state = buffers[seen & 1]
        ages.append(time.monotonic_ns() - int(state[:2].view(np.int64)[0]))
    print(json.dumps({"call": ages}))
    del count, buffers, buffer, state
    memory.close()


def views(memory: SharedMemory, nbytes: int) -> tuple[Array, list[Array]]:
    """View the count and both buffers."""
    assert memory.buf is not None
    buffers = [np.frombuffer(memory.buf, np.float32, nbytes // 4, HEAD + i * nbytes) for i in range(2)]
    return np.frombuffer(memory.buf, np.int64, 1), buffers


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
