"""A message serialised once, whose numbers are then written where they lie in its bytes."""

from __future__ import annotations

import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from rclpy.serialization import serialize_message

# Numbers whose bytes are all one of these are ordinary in each type of a message: positive and finite.
MARKS = range(0x20, 0x40)
HEADER = 4  # bytes before those that CDR aligns, by up to 8

Array = np.ndarray[Any, Any]


class Template:
    """The bytes of ``message`` and views on the numbers in them.

    What is no number, and how many elements sequences have, stays as it is in the message. Where numbers lie is not
    taken from the rules of CDR but seen: the message is serialised with all their bytes marked, and the bytes that are
    the mark are theirs. What lies between aligned numbers is not written, and may be left of another message with the
    same mark; so it is marked otherwise and again until there are as many bytes as the numbers have.
    Attributes: ``message``; ``memory``, u8 of the serialised message.
    """

    def __init__(self, message: Any) -> None:
        self.message = message
        raw = serialize_message(message)
        # Laid so that what CDR has aligned is aligned in memory, too.
        self.memory = np.empty(len(raw) + HEADER, np.uint8)[HEADER:]
        self.memory[:] = np.frombuffer(raw, np.uint8)

    def rows(self, count: int, dtype: Any, *places: tuple[Any, str]) -> Array:
        """View numbers in the bytes, ``count`` rows of those that lie side by side: ``dtype[count, numbers in a row]``.

        Each place is an object of the message and the name of a number or of an array of numbers in it. An object that
        stands in a sequence several times has a row for each time.
        Raises ValueError when the serialised message does not hold such rows.
        """
        kind = np.dtype(dtype)
        size = count * sum(_size(getattr(owner, name), kind) for owner, name in places)
        theirs = np.ones(len(self.memory), bool)
        for mark in MARKS:
            marked = self._serialised(kind, places, mark)
            if len(marked) != len(theirs):
                raise ValueError(f"{_named(places)}: the message is not of the size that it had")
            theirs &= marked == mark
            if np.count_nonzero(theirs) <= size:
                break
        width, start = size // count, int(theirs.argmax())
        stride = width + (int(theirs[start + width :].argmax()) if count > 1 else 0)
        found = 0 < size == np.count_nonzero(theirs) and width % kind.itemsize == 0
        if found and (found := start + (count - 1) * stride + width <= len(theirs)):
            found = bool(np.ndarray((count, width), bool, theirs, start, (stride, 1)).all())
        if not found:
            raise ValueError(f"{_named(places)}: the message does not hold {count} equal rows of {kind} there")
        view: Array = np.ndarray((count, width // kind.itemsize), kind, self.memory, start, (stride, kind.itemsize))
        return view

    def stamps(self, count: int, stamped: Any) -> Array:
        """View the stamp of what has a header and stands in the message ``count`` times: i32[count, 2], s and ns."""
        stamp = stamped.header.stamp
        return self.rows(count, np.int32, (stamp, "sec"), (stamp, "nanosec"))

    def _serialised(self, dtype: np.dtype[Any], places: Sequence[tuple[Any, str]], byte: int) -> Array:
        """Serialise the message with each byte of these numbers the same."""
        before = [getattr(owner, name) for owner, name in places]
        for (owner, name), value in zip(places, before):
            setattr(owner, name, _like(value, dtype, byte))
        raw = serialize_message(self.message)
        for (owner, name), value in zip(places, before):
            setattr(owner, name, value)
        return np.frombuffer(raw, np.uint8)


def _size(value: Any, dtype: np.dtype[Any]) -> int:
    """Count the bytes of a number or array."""
    return len(value) * value.itemsize if isinstance(value, array.array) else dtype.itemsize


def _like(value: Any, dtype: np.dtype[Any], byte: int) -> Any:
    """Make a value of the same type and length whose bytes are all this one."""
    if isinstance(value, array.array):
        return array.array(value.typecode, bytes([byte]) * value.itemsize) * len(value)
    return np.frombuffer(bytes([byte]) * dtype.itemsize, dtype)[0].item()


def _named(places: Sequence[tuple[Any, str]]) -> str:
    return ", ".join(f"{type(owner).__name__}.{name}" for owner, name in places)
