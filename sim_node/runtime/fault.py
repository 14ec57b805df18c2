"""Faults of running kernels, said in words."""

from __future__ import annotations

from sim_node.compiler.build import Program
from sim_node.errors import KernelError

# kind of a site → what happened there
_WHAT = {
    "index": "index {index} is outside array '{subject}' of length {length}",
    "division": "integer division by zero in {subject}",
    "overflow": "integer overflow in {subject}",
    "assert": "{subject}",
}


def kernel_error(program: Program, launched: str, site: int, thread: int, index: int, length: int) -> KernelError:
    """Say where and why a thread stopped itself; the arguments after ``launched`` are as in ``sn_error``."""
    stopped = program.sites[site]
    what = _WHAT[stopped.kind].format(index=index, length=length, subject=stopped.subject)
    return KernelError(what, stopped.location, program.name, thread, launched)
