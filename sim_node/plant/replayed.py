"""What a replay of recorded inputs left, tick by tick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim_node.errors import KernelError


@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """The ticks that a replay did, of n.

    ``hashes`` is u64[n, fields] in the order of the state's layout; ``values`` holds by name an array (n, *shape): the
    field after each tick. ``stopped`` is the fault of the kernel that stopped itself in tick n + 1, or None.
    """

    hashes: np.ndarray[Any, Any]
    values: Mapping[str, np.ndarray[Any, Any]]
    stopped: KernelError | None
