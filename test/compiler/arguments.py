"""Random arguments of a kernel, full of edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from machine import Given, descriptor
from palette import extents

from sim_node.dtypes import ArrayType, Kind, Struct
from sim_node.lang.values.structure import memory_type
from sim_node.lang.values.value import canonical


def arguments(names: Sequence[str], kinds: Sequence[Any], seed: int, grid: tuple[int, ...]) -> list[Any]:
    """Make arrays, of an element a thread or more, structs as their parts, ints and floats."""
    random = np.random.default_rng(seed)
    return [_argument(name, kind, grid, random) for name, kind in zip(names, kinds, strict=True)]


def _argument(name: str, kind: Any, grid: tuple[int, ...], random: np.random.Generator) -> Any:
    if isinstance(kind, ArrayType):
        return _given(name, kind, grid, random)
    if isinstance(kind, Struct):
        return tuple(_argument(part, its, grid, random) for (part, _), its in zip(kind.fields, kind.types))
    if name == "s1":
        return np.int32(random.choice([-7, -1, 0, 2, 3, 2**31 - 1]))
    if name == "s5":
        return np.float32(random.choice([-0.75, 0.0, 3.1]))
    return _numbers(kind, (), random)


def _given(name: str, kind: ArrayType, grid: tuple[int, ...], random: np.random.Generator) -> Given:
    """Make an array that lies as its type says, in memory of its own; no element is listed twice."""
    shape = extents(kind.ndim, grid)
    axes, steps, reach = [*range(kind.ndim)], np.ones(kind.ndim, int), np.array(shape)
    lists: list[Any] = [None] * kind.ndim
    if kind.layout == "indexed":
        for axis in np.flatnonzero(random.random(kind.ndim) < 0.7):
            reach[axis] += 2
            lists[axis] = random.permutation(reach[axis])[: shape[axis]].astype(np.int32)
    if kind.layout != "contiguous":
        axes, steps = [*map(int, random.permutation(kind.ndim))], random.choice([1, 1, 2, -1], kind.ndim)
    whole = tuple(map(int, (reach * np.abs(steps))[np.argsort(axes)]))
    held: list[tuple[tuple[str, ...], Given]] = []
    memory = _elements(kind.dtype, whole, grid, random, held)
    if name[0] in "yw":  # what no kernel writes stays: no NaN there but the canonical one
        memory = canonical(memory)
    return Given(memory, tuple(axes), tuple(slice(None, None, int(step)) for step in steps), tuple(lists), tuple(held))


def _elements(
    kind: Any,
    shape: tuple[int, ...],
    grid: tuple[int, ...],
    random: np.random.Generator,
    held: list[tuple[tuple[str, ...], Given]],
    path: tuple[str, ...] = (),
) -> Any:
    """Make the elements of an array; arrays that they hold are the same for all of them."""
    if not isinstance(kind, Struct):
        return _numbers(kind, shape, random)
    array = np.zeros(shape, memory_type(kind))
    for (name, _), its in zip(kind.fields, kind.types):
        if isinstance(its, ArrayType):
            made = _given(name, its, grid, random)
            held.append(((*path, name), made))
            words = iter(word for _, word in descriptor(its, made))
            array[name]["address"] = next(words)
            for part in array.dtype[name].names[1:]:
                array[name][part] = [next(words) for _ in range(its.ndim)]
        else:
            array[name] = _elements(its, shape, grid, random, held, (*path, name))
    return array


def _numbers(kind: Any, shape: tuple[int, ...], random: np.random.Generator) -> Any:
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
