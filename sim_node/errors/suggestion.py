"""What a user may have meant by an unknown name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def suggestion(name: str, known: Iterable[str]) -> str:
    """Continue a message about an unknown name: the closest known one, or what there is."""
    names = list(known)
    close = get_close_matches(name, names, 1)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; there are {', '.join(names)}" if names else "; there are none"
