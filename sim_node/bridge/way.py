"""On which way a reader gets a field, and what that costs it."""

from __future__ import annotations

from dataclasses import dataclass

# docs/ring.md, "Fields on a GPU", has the figures and the machine that they were measured on
_COSTS = {
    "posix_shm": "a view on the slot itself; nothing is copied",
    "memfd": "a view on the slot itself; nothing is copied",
    "in_process": "the array itself: a kernel in this process costs what its launch does; fetch copies by DMA",
    "cuda_ipc": "fetch copies by DMA: about 60 µs for 64 kB after the commit, and 100 µs for 1 MB; a kernel of this "
    "process ends about 160 µs after the commit, since the GPU switches between processes, unless MPS runs",
    "vmm": "fetch copies by DMA, and a kernel of this process begins when the GPU has switched to it, as by cuda_ipc; "
    "there are no events: the ring tells of a tick when the producer has waited for its GPU, so it is written by then",
}


@dataclass(frozen=True)
class Way:
    """How a field comes: by ``transport``, on ``place`` ('host', or a device's name); ``why`` says why not otherwise.

    ``transport`` is '' where the field does not come at all.
    """

    transport: str
    place: str = "host"
    why: str = ""

    @property
    def cost(self) -> str:
        """What it costs, in words and measured figures."""
        if self.place == "host" and self.transport == "in_process":
            return _COSTS["posix_shm"]
        return _COSTS.get(self.transport, "it does not come")

    def __str__(self) -> str:
        return f"{self.transport or 'none'} on {self.place}: {self.cost}{f' ({self.why})' if self.why else ''}"
