"""Programs made ready to launch: a kernel's compiled code behind the entry that C checks arguments against."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from sim_node import _native
from sim_node.compiler.build import Program, build, build_all
from sim_node.compiler.python.build import build as interpreted
from sim_node.device.names import DEFAULT, PYTHON, Device
from sim_node.dtypes import LAYOUTS
from sim_node.errors import mistakes
from sim_node.lang.kernel import Kernel
from sim_node.runtime.element import row
from sim_node.runtime.prints import show

if TYPE_CHECKING:
    from typing_extensions import Self

_building = threading.Lock()
_interpreted: WeakKeyDictionary[Kernel, Entry] = WeakKeyDictionary()  # on the device ``python``


class Entry(_native.Entry):
    """A program that can be launched. Attributes: ``program``."""

    __slots__ = ("program",)

    program: Program

    def __new__(cls, program: Program) -> Self:
        """Lay the argument block out; the program's code stays mapped as long as the entry."""
        rows = tuple(row(name, type_, name in program.written) for name, type_ in program.params)
        prints = any(site.kind == "print" for site in program.sites)
        entry = super().__new__(cls, program.address, rows, program.dims, program.owner, prints)
        entry.program = program
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
        if device is PYTHON:
            known = _interpreted.get(kernel)
            if known is None:
                known = _interpreted[kernel] = Entry(interpreted(kernel))
            return known
        if kernel.entry is None:
            kernel.entry = Entry(build(kernel))
    entry: Entry = kernel.entry
    return entry


def load_all(kernels: Sequence[Kernel]) -> None:
    """Build several kernels as ``load`` does, in less time than one by one; raises as it, for the first at fault."""
    with _building:
        missing = [kernel for kernel in kernels if kernel.entry is None]
        for kernel, program in zip(missing, build_all(missing), strict=True):
            kernel.entry = Entry(program)


def variant(entry: Entry, kernel: Kernel, inputs: Sequence[Any], outputs: Sequence[Any]) -> Entry:
    """Build a kernel for arrays in the layouts of these arguments, and keep that with its entry, as ``load`` does.

    Raises BuildError when the kernel cannot be compiled so.
    """
    codes = entry.layouts(inputs, outputs)
    with _building:
        made: Entry | None = entry.variant(codes)
        if made is None:
            layouts = {name: LAYOUTS[code] for (name, _), code in zip(entry.program.params, codes) if code}
            again = build if entry is kernel.entry else interpreted
            made = Entry(again(kernel, layouts=layouts))
            entry.add(made)
    return made
