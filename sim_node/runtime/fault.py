"""Faults of running kernels, said in words."""

from __future__ import annotations

import struct
from typing import Any

from sim_node.compiler.build import Program
from sim_node.compiler.python.code import RAISED, Code
from sim_node.device import driver
from sim_node.dtypes import SCALARS, Kind
from sim_node.errors import DeviceError, KernelError, mistakes

LOST = 0xFFFF_FFFE  # the site of what is no thread's fault but the driver's: src/plan.h

SCALAR = {repr(scalar): scalar for scalar in SCALARS}
# kind of a site → the mistake, and what happened there; an index of an array of several dimensions says which
_WHAT = {
    "index": (mistakes.INDEX, "index {index} is outside array '{subject}' of length {length}"),
    **{
        f"index {dimension}": (
            mistakes.INDEX,
            f"index {{index}} is outside dimension {dimension} of array '{{subject}}', whose extent is {{length}}",
        )
        for dimension in range(4)
    },
    "division": (mistakes.DIVISION, "integer division by zero in {subject}"),
    "overflow": (mistakes.OVERFLOW, "integer overflow in {subject}"),
    "assert": (mistakes.ASSERTION, "{subject}"),
}


def coordinates(dim: Any, thread: int) -> int | tuple[int, ...]:
    """Give the place of a thread in the grid of a launch: a tuple where there is more than one dimension."""
    if not isinstance(dim, (tuple, list)) or len(dim) == 1:
        return thread
    found = []
    for extent in reversed(dim):
        thread, at = divmod(thread, int(extent))
        found.append(at)
    return tuple(reversed(found))


def _number(name: str, word: int) -> str:
    """The number of a scalar type that an error tells in 64 bits, in as few digits as tell it from every other."""
    scalar = SCALAR[name]
    value = struct.unpack("d", struct.pack("q", word))[0] if scalar.is_float else word
    return str(scalar.numpy.type(value % 2**64 if scalar.kind is Kind.UINT else value))


def kernel_error(
    program: Program, launched: str, thread: int | tuple[int, ...], site: int, _: int, index: int, length: int
) -> KernelError | DeviceError:
    """Say where and why a thread stopped itself; the arguments after ``thread`` are as in ``sn_error``.

    Raises what ended a thread on the device ``python`` where that was no fault of the kernel's, such as a debugger's
    quitting.
    """
    if site == LOST:
        return driver.lost(f"kernel '{program.name}', launched at {launched}", index)
    if site == RAISED and isinstance(program.owner, Code):
        raise program.owner.taken()
    stopped = program.sites[site]
    kind, *compared = stopped.kind.split(" ") if stopped.kind.startswith("assert ") else [stopped.kind]
    mistake, what = _WHAT[kind]
    what = what.format(index=index, length=length, subject=stopped.subject)
    if compared:
        scalar, symbol = compared
        what = f"{what}: {_number(scalar, index)} {symbol} {_number(scalar, length)} is false"
    return mistake(what, stopped.location, program.name, thread, launched)
