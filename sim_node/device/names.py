"""The devices of this process, by name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sim_node.device.cuda import Cuda, gpus
from sim_node.device.host import Host
from sim_node.errors import DeviceError, mistakes

Device = Host | Cuda

# ``python`` is CPython itself on the same memory, and no place to run everything on: it is there when asked for.
PYTHON = Host("python")

_HOSTS: dict[str, Host] = {"cpu": Host(), "python": PYTHON}
DEFAULT: Device = _HOSTS["cpu"]
current: Device = DEFAULT

_WORD = re.compile(r"[a-z0-9.]+")


def get_device(name: str | Device | None = None) -> Device:
    """Look a device up; None is the one that is meant now, and a device is itself.

    A GPU is ``cuda:N``, ``cuda`` (the first), its uuid (``GPU-…``, or its beginning), or NVIDIA's name of it or words
    of that, such as ``H200``. Raises DeviceError naming the devices that are present, or those that the name may mean.
    """
    if name is None:
        return current
    if isinstance(name, Device):
        return name
    wanted = name.strip().strip("\"'").strip() if isinstance(name, str) else ""
    host = _HOSTS.get(wanted)
    if host is not None:
        return host
    found, none = [], ""
    if wanted:
        try:
            found = meant(wanted, gpus())
        except DeviceError as absent:
            none = f"; {absent.args[0]}" if re.search(r"\d|cuda|gpu-", wanted.casefold()) else ""
    if len(found) == 1:
        return found[0]
    listed = "".join(f"\n  {gpu.name}  {gpu.title}  {gpu.uuid}" for gpu in found)
    if found:
        raise mistakes.DEVICE(f"{name!r} may be any of {len(found)} devices; name one by its number or uuid:{listed}")
    raise mistakes.DEVICE(
        f"no device {name!r}; present: {', '.join([*_HOSTS, *(gpu.name for gpu in _present())])}{none}"
    )


def get_devices() -> list[Device]:
    """List the devices that kernels are compiled for."""
    return [_HOSTS["cpu"], *_present()]


def meant(name: str, present: Sequence[Cuda]) -> list[Cuda]:
    """Choose the GPUs that a name may mean: by number, by uuid, by all of NVIDIA's name, else by words of it."""
    key = name.casefold()
    if key == "cuda":
        return [*present[:1]]
    if key.startswith("cuda:"):
        return [gpu for gpu in present if gpu.name == key]
    if key.startswith("gpu-"):
        return [gpu for gpu in present if gpu.uuid.casefold().startswith(key)]
    words = _words(name)
    whole = [gpu for gpu in present if words and _words(gpu.title) == words]
    return whole or [gpu for gpu in present if words and f" {words} " in f" {_words(gpu.title)} "]


def _words(title: str) -> str:
    """The words of a GPU's name; the maker's is none of them."""
    return " ".join(word for word in _WORD.findall(title.casefold()) if word != "nvidia")


def _present() -> list[Cuda]:
    try:
        return gpus()
    except DeviceError:
        return []
