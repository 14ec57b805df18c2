"""A message serialised once, whose numbers are then written where they lie in its bytes."""

from __future__ import annotations

import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from rclpy.serialization import serialize_message

# Numbers whose bytes are all one of these are ordinary in each type of a message: not negative, and finite.
MARKS = (0x00, 0x3F, 0x2A)
HEADER = 4  # bytes before those that CDR aligns, by up to 8

Array = np.ndarray[Any, Any]


class Template:
    """The bytes of ``message`` and views on the numbers in them.

    What is no number, and how many elements sequences have, stays as it is in the message. Where numbers lie is not
    taken from the rules of CDR but seen: the message is serialised with them marked in several ways, and the bytes that
    are each time the mark are theirs. That holds for each type of message, and whatever the middleware does with it.
    One mark is not enough: what lies between aligned numbers is not written, and may be left of another message.
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
        theirs = np.ones(len(self.memory), bool)
        for mark in MARKS:
            marked = self._serialised(kind, places, mark)
            if len(marked) != len(theirs):
                raise ValueError(f"{_named(places)}: the message is not of the size that it had")
            theirs &= marked == mark
        total, start = int(np.count_nonzero(theirs)), int(theirs.argmax())
        width = total // count
        stride = width
        if count > 1:
            stride += int(theirs[start + width :].argmax())
        found = width > 0 and start + (count - 1) * stride + width <= len(theirs)
        if found:
            found = bool(np.ndarray((count, width), bool, theirs, start, (stride, 1)).all())
        if not found or total != count * width or width % kind.itemsize:
            raise ValueError(f"{_named(places)}: {total} bytes are not {count} equal rows of {kind} in the message")
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


def _like(value: Any, dtype: np.dtype[Any], byte: int) -> Any:
    """Make a value of the same type and length whose bytes are all this one."""
    if isinstance(value, array.array):
        # Nothing of that size is left behind with this mark in it: the message could be serialised there.
        return array.array(value.typecode, bytes([byte]) * value.itemsize) * len(value)
    return np.frombuffer(bytes([byte]) * dtype.itemsize, dtype)[0].item()


def _named(places: Sequence[tuple[Any, str]]) -> str:
    return ", ".join(f"{type(owner).__name__}.{name}" for owner, name in places)
