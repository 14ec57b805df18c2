"""Which device is meant where none is named, and waiting for devices."""

from __future__ import annotations

from types import TracebackType

from sim_node.device import names
from sim_node.device.cuda import Cuda, used
from sim_node.device.names import Device, get_device


def set_device(name: str | Device) -> None:
    """Make a device the one that is meant where none is named.

    Raises DeviceError naming the devices that are present.
    """
    names.current = get_device(name)


class ScopedDevice:
    """Makes a device the one that is meant inside the with block: ``with sn.ScopedDevice("cpu"):``."""

    def __init__(self, name: str | Device) -> None:
        self.device = get_device(name)

    def __enter__(self) -> Device:
        self._before = names.current
        set_device(self.device)
        return self.device

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        names.current = self._before


def get_preferred_device() -> Device:
    """Look up the device that is meant where none is named."""
    return get_device()


def is_device_available(name: str | Device) -> bool:
    """Say whether a device is present."""
    return any(name in (device, str(device)) for device in names.get_devices())


def is_cpu_available() -> bool:
    """Say whether kernels run on the CPU: always."""
    return is_device_available("cpu")


def is_cuda_available() -> bool:
    """Say whether kernels run on a GPU."""
    return is_device_available("cuda:0")


def init() -> None:
    """Make the devices ready: here they are."""


def synchronize() -> None:
    """Wait until every launch has ended: on the CPU it has when it returns. Raises DriverError where one failed."""
    for gpu in used():
        gpu.synchronize()


def synchronize_device(name: str | Device | None = None) -> None:
    """Wait until every launch on a device has ended.

    Raises DeviceError for an unknown device, DriverError where a launch failed.
    """
    device = get_device(name)
    if isinstance(device, Cuda):
        device.synchronize()
