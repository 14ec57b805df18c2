"""The hash of a field, over many ticks at once: src/hash.h in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

_U64 = np.uint64
_PHI = _U64(0x9E3779B97F4A7C15)
_BLOCK = 1 << 20  # words mixed at a time, so that a large state needs no second copy of itself


def _mix(z: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Finish as SplitMix64 does (Steele, Lea, Flood 2014)."""
    z = (z ^ (z >> _U64(30))) * _U64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> _U64(27))) * _U64(0x94D049BB133111EB)
    mixed: np.ndarray[Any, Any] = z ^ (z >> _U64(31))
    return mixed


def field_hashes(rows: np.ndarray[Any, Any], field: int = 0) -> np.ndarray[Any, Any]:
    """Hash each row of bytes (u8[count, size]) as field number ``field`` of a state; returns u64[count]."""
    count, size = rows.shape
    padded = np.zeros((count, -(-size // 8) * 8), np.uint8)
    padded[:, :size] = rows
    total = np.zeros(count, _U64)
    if not padded.size:
        return total
    words = padded.view("<u8")
    for begin in range(0, words.shape[1], _BLOCK):
        block = words[:, begin : begin + _BLOCK]
        position = np.arange(begin + 1, begin + 1 + block.shape[1], dtype=_U64) + _U64(field << 40)
        total += _mix(block + position * _PHI).sum(axis=1, dtype=_U64)
    return total
