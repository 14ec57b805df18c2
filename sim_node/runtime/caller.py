"""The place in the user's source that a launch comes from."""

from __future__ import annotations

import sys

_HERE = __name__.rpartition(".")[0]


def caller() -> str:
    """Name file, line and function of the innermost call from outside the runtime."""
    at = sys._getframe(1)
    while at.f_back is not None and at.f_globals.get("__name__", "").startswith(_HERE):
        at = at.f_back
    return f"{at.f_code.co_filename}:{at.f_lineno} in {at.f_code.co_name}"
