"""Records: the applied inputs and the hashes of consecutive ticks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """The ticks ``first_step … first_step + count - 1``; ``count`` is 0 when none waits.

    ``hashes`` is u64[count, fields] in the order of the state's layout, ``inputs`` u8[count, bytes] as the inputs'
    layout says; ``unanswered`` is u64[count], bit i set where input i had no answer in time (lockstep); ``lost`` counts
    the ticks since the start whose records were dropped before these.
    """

    first_step: int
    count: int
    hashes: np.ndarray[Any, Any]
    inputs: np.ndarray[Any, Any]
    unanswered: np.ndarray[Any, Any]
    lost: int
