"""By which of the driver's ways other processes get memory of a GPU."""

from __future__ import annotations

from dataclasses import dataclass

from sim_node.device import ipc, vmm
from sim_node.device.cuda import Cuda

# In the order that is tried: events of CUDA's IPC let a reader's stream wait for the producer's.
_REFUSALS = {ipc.TRANSPORT: ipc.refusal, vmm.TRANSPORT: vmm.refusal}
AUTO = "auto"
TRANSPORTS = (AUTO, *_REFUSALS)


@dataclass(frozen=True, slots=True)
class Choice:
    """A transport, and why it is that one; '' where there is none, and why."""

    transport: str
    why: str


def choose(device: Cuda, wanted: str = AUTO) -> Choice:
    """Choose the transport for memory of a device: the wanted one of ``TRANSPORTS``, by 'auto' the first it has."""
    missing = list[str]()
    for transport in TRANSPORTS[1:] if wanted == AUTO else (wanted,):
        refused = _REFUSALS[transport](device)
        if not refused:
            return Choice(transport, "asked for" if wanted != AUTO else "; ".join(missing) or "the first choice")
        missing.append(refused)
    return Choice("", "; ".join(missing))
