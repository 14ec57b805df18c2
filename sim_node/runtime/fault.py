"""Faults of running kernels, said in words."""

from __future__ import annotations

from typing import Any

from sim_node.compiler.build import Program
from sim_node.compiler.python.code import RAISED, Code
from sim_node.errors import KernelError, mistakes

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


def kernel_error(
    program: Program, launched: str, thread: int | tuple[int, ...], site: int, _: int, index: int, length: int
) -> KernelError:
    """Say where and why a thread stopped itself; the arguments after ``thread`` are as in ``sn_error``.

    Raises what ended a thread on the device ``python`` where that was no fault of the kernel's, such as a debugger's
    quitting.
    """
    if site == RAISED and isinstance(program.owner, Code):
        raise program.owner.taken()
    stopped = program.sites[site]
    mistake, what = _WHAT[stopped.kind]
    what = what.format(index=index, length=length, subject=stopped.subject)
    return mistake(what, stopped.location, program.name, thread, launched)
