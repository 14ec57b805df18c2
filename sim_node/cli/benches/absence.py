"""Why a peer of a bench is not measured."""

from __future__ import annotations

_BROUGHT = ("warp", "numba", "iceoryx2")  # by the extra ``bench``


def absence(error: Exception) -> dict[str, str]:
    """Say what a peer that cannot run has said, and what brings it where that is known.

    It may fail in any way of its own: it, its compiler or its driver may be missing, or of another version.
    """
    told = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    lacks = isinstance(error, ImportError) and (error.name or "").partition(".")[0] in _BROUGHT
    return {"absent": told + "; make setup BENCH=1 brings it" * lacks}
