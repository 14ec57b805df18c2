"""What a key selects of an array: where it begins, and the shape and strides of what is left."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

MAX_NDIM = 4
Shape = int | Iterable[int]


@dataclass(frozen=True, slots=True)
class View:
    """Part of an array: ``offset`` and ``strides`` in bytes; ``lists`` are what indexes each dimension, or None."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    lists: tuple[Any, ...]

    @property
    def is_indexed(self) -> bool:
        """Whether a list of indices chooses the elements of any dimension."""
        return any(given is not None for given in self.lists)


def select(key: Any, shape: Sequence[int], strides: Sequence[int]) -> View:
    """Read a key as Python and numpy do: integers, slices, an Ellipsis, and lists of indices, a dimension each.

    Raises IndexError where a key is outside its dimension or there are too many, TypeError for any other kind of key.
    """
    keys = _complete(key if isinstance(key, tuple) else (key,), len(shape))
    offset, left = 0, []
    for axis, (one, extent, stride) in enumerate(zip(keys, shape, strides)):
        if isinstance(one, slice):
            start, stop, step = one.indices(extent)
            count = len(range(start, stop, step))
            offset += start * stride
            left.append((count, stride * step if count > 1 else stride, None))  # a step that is never taken may be huge
        elif hasattr(one, "__len__"):
            left.append((extent, stride, one))
        else:
            offset += _index(one, extent, axis) * stride
    counts, steps, lists = zip(*left) if left else ((), (), ())
    return View(0 if 0 in counts else offset, counts, steps, lists)  # nothing is nowhere in particular


def _complete(keys: tuple[Any, ...], ndim: int) -> tuple[Any, ...]:
    """A key a dimension: an Ellipsis, or the end, stands for all of the dimensions that have none."""
    at = [i for i, one in enumerate(keys) if one is Ellipsis]
    if len(at) > 1:
        raise IndexError("a key has at most one Ellipsis")
    given = len(keys) - len(at)
    if given > ndim:
        raise IndexError(f"{given} indices for an array of {ndim} dimension{'s' if ndim > 1 else ''}")
    cut = at[0] if at else len(keys)
    return (*keys[:cut], *[slice(None)] * (ndim - given), *keys[cut + 1 :])


def _index(one: Any, extent: int, axis: int) -> int:
    if isinstance(one, bool):
        raise TypeError("an array is not indexed by a bool; select with array.numpy()[mask]")
    try:
        index = operator.index(one)
    except TypeError:
        raise TypeError(f"an array is indexed by integers, slices and lists of integers, not {one!r}") from None
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is outside dimension {axis} of extent {extent}")
    return index % extent


def reshaped(shape: Any, size: int) -> tuple[int, ...]:
    """Complete the shape of as many elements, of which one extent may be -1.

    Raises ValueError when the numbers of elements differ.
    """
    found = [operator.index(n) for n in (shape if isinstance(shape, Iterable) else (shape,))]
    known = 1
    for extent in found:
        known *= 1 if extent == -1 else extent
    if found.count(-1) == 1 and known and size % known == 0:
        found[found.index(-1)] = size // known
        known = size
    if known != size or min(found, default=0) < 0:
        raise ValueError(f"{size} elements do not make an array of shape {shape!r}")
    return tuple(found)


def extents(shape: Shape) -> tuple[int, ...]:
    """Read a shape, an int or a sequence of ints, as a tuple.

    Raises TypeError for anything else, ValueError for a negative extent or more dimensions than four.
    """
    try:
        found = tuple(operator.index(n) for n in (shape if isinstance(shape, Iterable) else (shape,)))
    except TypeError:
        raise TypeError(f"a shape is an int or a tuple of ints, not {shape!r}") from None
    if not 1 <= len(found) <= MAX_NDIM:
        raise ValueError(f"shape {shape!r}: an array has 1 to {MAX_NDIM} dimensions")
    if min(found) < 0:
        raise ValueError(f"Array shapes must be non-negative, and {shape!r} is not")
    return found


def spanned(shape: tuple[int, ...], strides: Sequence[int], size: int) -> tuple[int, int]:
    """The bytes of elements of a size: where the lowest begins, counted from the first, and how many there are.

    Raises ValueError where there is not one stride a dimension.
    """
    if len(strides) != len(shape):
        raise ValueError(f"Invalid number of strides, expected {len(shape)} strides, got {len(strides)}")
    if 0 in shape:
        return 0, 0
    spans = [(extent - 1) * stride for extent, stride in zip(shape, strides)]
    return sum(min(span, 0) for span in spans), sum(map(abs, spans)) + size
