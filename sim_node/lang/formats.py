"""The formats of ``sn.printf``: C's, of numbers whose width is known, so that sizes such as ``l`` say nothing.

``print`` is the printf whose format follows from the types.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sim_node.dtypes import Composite, Kind, Matrix, Quaternion, Scalar, Transform, Type

# ``how`` are flags, width and precision, ``kind`` is the letter; a % that is neither a conversion nor doubled has none.
CONVERSION = re.compile(r"%(?:(?P<how>[-+ #0]*\d*(?:\.\d*)?)(?:hh|h|ll|l|j|z|t|q|L)?(?P<kind>[diuoxXcfFeEgGs%]))?")
SIGNED, UNSIGNED, FLOATS = "dic", "uoxX", "fFeEgG"
OPAQUE = "<type without print implementation>"

_CONVERSIONS = {Kind.BOOL: "%s", Kind.INT: "%d", Kind.UINT: "%u", Kind.FLOAT: "%g"}


def printed(kind: Type | None) -> str:
    """Give the format that ``print`` writes a value of a type by, with a conversion for each number: Warp's."""
    if isinstance(kind, Scalar):
        return _CONVERSIONS[kind.kind]
    if not isinstance(kind, Composite):
        return OPAQUE
    one = _CONVERSIONS[kind.scalar.kind]
    if isinstance(kind, Transform):
        return f"({' '.join([one] * 3)}) ({' '.join([one] * 4)})"
    if isinstance(kind, Quaternion):
        return " ".join([one] * 4)
    if isinstance(kind, Matrix):
        return (f"{one} " * kind.cols + "\n") * kind.rows
    return f"{one} " * kind.length


def joined(forms: Sequence[str], between: str, end: str) -> str:
    """Put the formats of what one ``print`` writes together; a matrix alone, a row a line, has ended its line."""
    form = escaped(between).join(forms)
    return form + ("" if form.endswith("\n") and end == "\n" and len(forms) == 1 else escaped(end))


def escaped(text: str) -> str:
    """Give the format that writes a text as it is."""
    return text.replace("%", "%%")


def formatted(text: str, values: Sequence[Any]) -> str:
    """Write values in the places of conversions. Raises TypeError or ValueError where they do not fit."""
    given = iter(values)

    def one(match: re.Match[str]) -> str:
        if match["kind"] is None:
            raise ValueError(f"'{match.string[match.start() :][:2]}' is no conversion of printf")
        if match["kind"] == "%":
            return "%"
        try:
            value = next(given)
        except StopIteration:
            raise TypeError("printf has more conversions than values") from None
        if match["kind"] in UNSIGNED and value < 0:
            value = int(value) + (1 << 8 * getattr(value, "itemsize", 4))
        return str(f"%{match['how']}{match['kind']}" % value)

    written = CONVERSION.sub(one, text)
    if next(given, None) is not None:
        raise TypeError("printf has more values than conversions")
    return written
