"""The formats of ``sn.printf``: C's, of numbers whose width is known, so that sizes such as ``l`` say nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

# ``how`` are flags, width and precision, ``kind`` is the letter; a % that is neither a conversion nor doubled has none.
CONVERSION = re.compile(r"%(?:(?P<how>[-+ #0]*\d*(?:\.\d*)?)(?:hh|h|ll|l|j|z|t|q|L)?(?P<kind>[diuoxXcfFeEgGs%]))?")
SIGNED, UNSIGNED, FLOATS = "dic", "uoxX", "fFeEgG"


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
