"""A reader's view of the slots that another process has in the memory of a GPU."""

from __future__ import annotations

import os
from weakref import WeakValueDictionary

from sim_node._native import SPARES, Ring
from sim_node.bridge.device_array import DeviceArray, device_arrays
from sim_node.bridge.exported import Exported, own
from sim_node.bridge.handover import received
from sim_node.bridge.offer import Offer, namespace
from sim_node.device import driver, ipc, vmm
from sim_node.device.cuda import Cuda, gpus
from sim_node.device.driver import DriverError
from sim_node.device.sharing import TRANSPORTS
from sim_node.errors import DeviceError, RingError

_Key = tuple[int, int, int, bytes]
_CONTAINERS = {
    "ipc": "its IPC namespace is another container's: run both with --ipc=host (or one's --ipc=container:…)",
    "net": "its network is another container's: run both with --network=host (or one's --network=container:…)",
}


class Mapped:
    """The slots of one generation of a ring, mapped as long as an array in them, or a subscriber, lives.

    Attributes: ``layout``, ``device``, ``transport``, ``shared`` (events, as of ``Exported``).
    Raises RingError saying why they cannot be mapped.
    """

    def __init__(self, ring: Ring, offer: Offer) -> None:
        self._place: int | None = None
        self.layout, self.transport, self._offer, self._ring = offer.layout, offer.transport, offer, ring
        self.device = _device(offer)
        try:
            self._place, self._pid = ring.enter_mapper(), os.getpid()
        except OSError as error:
            raise RingError(f"the fields on {offer.title} cannot be mapped: {error}") from error
        try:
            self._mapping = self._open()
            self.shared = tuple(ipc.SharedEvent(self.device, handle) for handle in offer.events)
        except (DriverError, RingError) as error:
            raise RingError(f"the fields on {offer.title} cannot be mapped: {error}{_hint(offer)}") from error
        if self._mapping.nbytes < offer.offset + (ring.slots + SPARES) * offer.stride:
            raise RingError(
                f"the handle of the fields on {offer.title} opens {self._mapping.nbytes} bytes, too few for "
                f"{ring.slots + SPARES} slots of {offer.stride} bytes from {offer.offset}: it is of something else"
            )

    def __del__(self) -> None:
        self.__dict__.pop("_mapping", None)  # first this, so that who finds the place free may free the memory
        if self._place is not None and self._pid == os.getpid():
            self._ring.leave_mapper(self._place)

    def _open(self) -> ipc.Mapping | vmm.Mapping:
        if self.transport == ipc.TRANSPORT:
            return ipc.Mapping(self.device, self._offer.memory)
        with received(self._offer) as file:
            return vmm.Mapping(self.device, file, self._offer.nbytes)

    def slot(self, number: int) -> dict[str, DeviceArray]:
        """View each field of a slot."""
        address = self._mapping.base + self._offer.offset + number * self._offer.stride
        return device_arrays(self.layout, self.device, address, self)


_mapped: WeakValueDictionary[_Key, Mapped] = WeakValueDictionary()


def reach(ring: Ring, offer: Offer) -> Exported | Mapped:
    """Find the slots where this process made them, or map them, once for each producer and generation.

    Raises RingError saying why they cannot be mapped.
    """
    here = own.get(offer.memory) if offer.pid == os.getpid() else None
    if here is not None:
        return here
    key = offer.pid, offer.start, offer.generation, offer.memory
    found = _mapped.get(key)
    if found is None:
        found = _mapped[key] = Mapped(ring, offer)
    return found


def _device(offer: Offer) -> Cuda:
    """Find the GPU here that the producer's is."""
    if offer.transport not in TRANSPORTS[1:]:
        raise RingError(f"the fields on {offer.title} come by '{offer.transport}', which this version does not know")
    try:
        present = gpus()
    except DeviceError as absent:
        raise RingError(f"the fields lie on {offer.title} ({offer.uuid}): {absent.args[0]}") from absent
    for device in present:
        if device.uuid == offer.uuid:
            return device
    listed = ", ".join(f"{device.name} {device.title} ({device.uuid})" for device in present) or "none"
    raise RingError(
        f"the fields lie on another GPU, {offer.title} ({offer.uuid}); this process has {listed}: "
        "start it with that one in CUDA_VISIBLE_DEVICES"
    )


def _hint(offer: Offer) -> str:
    """Say in what this process differs from the producer's, where that can be the reason."""
    found = []
    kind, told = ("ipc", offer.ipc_namespace) if offer.transport == ipc.TRANSPORT else ("net", offer.net_namespace)
    if told != namespace(kind):
        found.append(_CONTAINERS[kind])
    if offer.driver != driver.version():
        found.append(f"its driver is {offer.driver}, this process's {driver.version()}")
    return "".join(f"\n  {each}" for each in found)
