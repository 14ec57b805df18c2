"""Programs made ready to launch: a kernel's compiled code behind the entry that C checks arguments against."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from sim_node import _native
from sim_node.compiler.build import Program, build, build_all
from sim_node.compiler.python.build import build as interpreted
from sim_node.device.cuda import UNCHECKED, Cuda, Module
from sim_node.device.names import DEFAULT, PYTHON, Device
from sim_node.dtypes import LAYOUTS
from sim_node.errors import mistakes
from sim_node.lang.kernel import Kernel
from sim_node.runtime.element import row
from sim_node.runtime.gpu import toolchain
from sim_node.runtime.prints import show

if TYPE_CHECKING:
    from typing_extensions import Self

Blocks = tuple[int | None, int]  # threads in one, None: what fills a GPU; and how many may run at once
ANY: Blocks = None, 2**31 - 1  # src/gpu.h

_building = threading.Lock()
_elsewhere: WeakKeyDictionary[Kernel, dict[Device, Entry]] = WeakKeyDictionary()  # than on the CPU


class Entry(_native.Entry):
    """A program that can be launched on a device.

    Attributes: ``program``, ``device``, ``asked`` (how many threads a block of a GPU is to have, None: what fills it;
    and how many blocks may run at once), ``sized`` (the same kernel with other blocks).
    """

    __slots__ = ("asked", "device", "program", "sized")

    program: Program
    device: Device
    asked: Blocks
    sized: dict[Blocks, Entry]

    def __new__(cls, program: Program, device: Device = DEFAULT, asked: Blocks = ANY) -> Self:
        """Lay the argument block out; the program's code stays loaded as long as the entry.

        Raises LaunchError for a block of more threads than the code leaves room for.
        """
        rows = tuple(row(name, type_, name in program.written) for name, type_ in program.params)
        prints = any(site.kind == "print" for site in program.sites)
        gpu: tuple[Any, ...] = ()
        if isinstance(device, Cuda):
            assert isinstance(program.owner, Module)
            stops = UNCHECKED not in program.owner.symbols
            gpu = stops, device.own, _block(program, device, asked[0]), device.pairs_from(program.owner), asked[1]
        entry = super().__new__(cls, program.address, rows, program.dims, program.owner, prints, *gpu)
        entry.program, entry.device, entry.asked, entry.sized = program, device, asked, {}
        return entry

    def show(self, records: bytes, lost: int) -> None:
        """Write what a launch of it printed."""
        show([self.program], records, lost)


def load(kernel: object, device: Device = DEFAULT) -> Entry:
    """Build a kernel on its first use and keep its entry with it; threads that come meanwhile wait and share it.

    Raises BuildError when the kernel cannot be compiled, LaunchError for what is no kernel.
    """
    if not isinstance(kernel, Kernel):
        name = getattr(kernel, "__name__", "")
        raise mistakes.NOT_A_KERNEL(
            f"only a kernel can be launched, not {kernel!r}"
            + (f"\n  instead: mark {name} with @sn.kernel" if callable(kernel) and name else "")
        )
    with _building:
        known: Entry | None = _known(kernel, device)
        return keep(kernel, Entry(_builder(device)(kernel), device)) if known is None else known


def load_all(kernels: Sequence[Kernel], device: Device = DEFAULT) -> None:
    """Build several kernels as ``load`` does, in less time than one by one; raises as it, for the first at fault."""
    with _building:
        missing = [kernel for kernel in kernels if _known(kernel, device) is None]
        chain = (toolchain(device),) if isinstance(device, Cuda) else ()
        made = [interpreted(kernel) for kernel in missing] if device is PYTHON else build_all(missing, *chain)
        for kernel, program in zip(missing, made, strict=True):
            keep(kernel, Entry(program, device))


def variant(entry: Entry, kernel: Kernel, inputs: Sequence[Any], outputs: Sequence[Any]) -> Entry:
    """Build a kernel for arrays in the layouts of these arguments, and keep that with its entry, as ``load`` does.

    Raises BuildError when the kernel cannot be compiled so.
    """
    codes = entry.layouts(inputs, outputs)
    with _building:
        made: Entry | None = entry.variant(codes)
        if made is None:
            layouts = {name: LAYOUTS[code] for (name, _), code in zip(entry.program.params, codes) if code}
            made = Entry(_builder(entry.device)(kernel, layouts=layouts), entry.device, entry.asked)
            entry.add(made)
    return made


def sized(entry: Entry, block_dim: Any, max_blocks: Any) -> Entry:
    """Give the entry whose blocks have so many threads on a GPU, and of which no more than so many run at once.

    A device without blocks has but the one; so has None for both. No blocks or fewer are no limit, as in Warp.
    Raises LaunchError for what is no number, or more threads than a block of the kernel can have.
    """
    if block_dim is None and max_blocks is None:
        return entry
    if block_dim is not None and (not _is_whole(block_dim) or block_dim < 1):
        what = f"kernel '{entry.program.name}': block_dim is {block_dim!r}"
        raise mistakes.BLOCK_DIM(f"{what}; it is how many threads make a block, 1 or more")
    if max_blocks is not None and not _is_whole(max_blocks):
        what = f"kernel '{entry.program.name}': max_blocks is {max_blocks!r}"
        raise mistakes.BLOCK_DIM(f"{what}; it is how many blocks of a launch run at once, or 0 for any number")
    if not isinstance(entry.device, Cuda):
        return entry
    most = int(max_blocks or 0)
    asked = None if block_dim is None else int(block_dim), most if 0 < most < ANY[1] else ANY[1]
    if asked == entry.asked:
        return entry
    with _building:
        found = entry.sized.get(asked)
        if found is None:
            found = entry.sized[asked] = Entry(entry.program, entry.device, asked)
    return found


def _is_whole(number: Any) -> bool:
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)


def _block(program: Program, gpu: Cuda, asked: int | None) -> int:
    if asked is None:
        return gpu.block(program.address)
    most = gpu.block_limit(program.address)
    if asked > most:
        what = f"kernel '{program.name}': block_dim is {asked}"
        raise mistakes.BLOCK_DIM(f"{what}, and on {gpu.name} ({gpu.title}) a block of it has at most {most} threads")
    return asked


def _builder(device: Device) -> Callable[..., Program]:
    if device is PYTHON:
        return interpreted
    return partial(build, chain=toolchain(device)) if isinstance(device, Cuda) else build


def _known(kernel: Kernel, device: Device) -> Any:
    return kernel.entry if device is DEFAULT else _elsewhere.get(kernel, {}).get(device)


def keep(kernel: Kernel, entry: Entry) -> Entry:
    """Let an entry be what launches of a kernel take on its device."""
    if entry.device is DEFAULT:
        kernel.entry = entry
    else:
        _elsewhere.setdefault(kernel, {})[entry.device] = entry
    return entry
