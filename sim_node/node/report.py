"""How a fault is told in the log: one clear line, then its causes."""

from __future__ import annotations

import traceback
from collections.abc import Iterator

from sim_node.errors import SimNodeError


def report(what: str, fault: BaseException) -> str:
    """Tell what could not be done and why.

    Errors of this package say all that is needed; any other, such as one raised in a plant's code, shows where it rose.
    """
    chain = list(_chain(fault))
    lines = [f"{what}: {_told(fault)}"]
    if all(isinstance(link, SimNodeError) for link in chain):
        lines += [f"  caused by {_told(cause)}" for cause in chain[1:]]
    else:
        lines.append("".join(traceback.format_exception(fault)).rstrip())
    return "\n".join(lines)


def _told(fault: BaseException) -> str:
    return str(fault) if isinstance(fault, SimNodeError) and str(fault) else f"{type(fault).__name__}: {fault}"


def _chain(fault: BaseException | None) -> Iterator[BaseException]:
    while fault is not None:
        yield fault
        fault = fault.__cause__ or (None if fault.__suppress_context__ else fault.__context__)
