"""Random arguments of a kernel, full of edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from palette import COLUMNS

from sim_node.dtypes import Kind, Struct
from sim_node.lang.values.structure import memory_type
from sim_node.lang.values.value import canonical


def arguments(kinds: Sequence[Any], seed: int, length: int) -> list[Any]:
    """Make arrays to read and as many to write, an int and a float."""
    random = np.random.default_rng(seed)
    arrays = [_array(kind.dtype, (length, COLUMNS)[: kind.ndim], random) for kind in kinds if hasattr(kind, "ndim")]
    for at in range(len(arrays) // 2, len(arrays)):  # what no kernel writes stays: no NaN there but the canonical one
        arrays[at] = canonical(arrays[at])
    return [
        *arrays,
        np.int32(random.choice([-7, -1, 0, 2, 3, 2**31 - 1])),
        np.float32(random.choice([-0.75, 0.0, 3.1])),
    ]


def _array(kind: Any, shape: tuple[int, ...], random: np.random.Generator) -> Any:
    if isinstance(kind, Struct):
        array = np.zeros(shape, memory_type(kind))
        for name, part in kind.fields:
            array[name] = _array(part, shape, random)
        return array
    scalar, shape = kind.scalar, (*shape, *kind.shape)
    if scalar.kind is Kind.BOOL:
        return random.integers(0, 2, shape).astype(bool)
    small = random.integers(0 if scalar.kind is Kind.UINT else -9, 10, shape).astype(scalar.numpy)
    raw = np.frombuffer(random.bytes(int(np.prod(shape)) * scalar.size), scalar.numpy).reshape(shape)
    if scalar.is_float:
        limits = np.finfo(scalar.numpy)
        edges = [0.0, -0.0, np.inf, -np.inf, np.nan, limits.max, -limits.max, limits.tiny, limits.smallest_subnormal,
                 limits.eps, 1.0, -1.0, 0.5, 2.0**31, 2.0**63, -(2.0**31), 1e9 + 0.5, 2.0**24 + 1, 2049.0]  # fmt: skip
        plain = random.normal(0, 3, shape).astype(scalar.numpy)
    else:
        whole = np.iinfo(scalar.numpy)
        edges = [0, 1, 2, whole.max, whole.min, whole.max - 1, whole.min + 1, 31, 32, 63]
        plain = small
    with np.errstate(over="ignore"):
        edge = np.array(edges, scalar.numpy)[random.integers(0, len(edges), shape)]
    return np.choose(random.integers(0, 5, shape), [edge, raw, plain, small, edge]).astype(scalar.numpy)
