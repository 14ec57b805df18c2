"""The devices of this process, by name."""

from __future__ import annotations

from sim_node.device.host import Host
from sim_node.errors import mistakes

Device = Host

# ``python`` is CPython itself on the same memory, and no place to run everything on: it is there when asked for.
PYTHON = Host("python")

_DEVICES: dict[str, Device] = {"cpu": Host(), "python": PYTHON}
DEFAULT = current = _DEVICES["cpu"]


def get_device(name: str | Device | None = None) -> Device:
    """Look a device up by its name; None is the one that is meant now, and a device is itself.

    Raises DeviceError naming the devices that are present.
    """
    if name is None:
        return current
    if isinstance(name, Host):
        return name
    device = _DEVICES.get(name.strip()) if isinstance(name, str) else None
    if device is None:
        raise mistakes.DEVICE(f"no device {name!r}; present: {', '.join(_DEVICES)}")
    return device


def get_devices() -> list[Device]:
    """List the devices that kernels are compiled for."""
    return [device for device in _DEVICES.values() if device is not PYTHON]
