"""What kernels printed, written to ``sys.stdout`` when the launch or the plan has run."""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from functools import lru_cache

from sim_node.compiler.build import Program
from sim_node.lang.formats import CONVERSION, FLOATS, SIGNED, formatted

_HEAD = struct.Struct("<IIqQ")  # launch, site, thread, words (src/plan.h)


def show(programs: Sequence[Program], records: bytes, lost: int) -> None:
    """Write the records of launches of these programs, in the order of their coming, and how many were lost."""
    written, at = list[str](), 0
    while at < len(records):
        launch, site, _, _ = _HEAD.unpack_from(records, at)
        form = programs[launch].sites[site].subject
        words, truths = _words(form)
        values = words.unpack_from(records, at + _HEAD.size)
        given = [bool(value) if truth else value for value, truth in zip(values, truths)]
        written.append(formatted(form, given))
        at += _HEAD.size + words.size
    if lost:
        written.append(f"… {lost} more than the buffer for prints of one launch or plan holds, which are lost\n")
    sys.stdout.write("".join(written))
    sys.stdout.flush()


@lru_cache(maxsize=256)
def _words(form: str) -> tuple[struct.Struct, tuple[bool, ...]]:
    """How the words of a format are read, and which are bools."""
    letters = [match["kind"] for match in CONVERSION.finditer(form) if match["kind"] != "%"]
    codes = ("q" if letter in SIGNED else "d" if letter in FLOATS else "Q" for letter in letters)
    return struct.Struct("<" + "".join(codes)), tuple(letter == "s" for letter in letters)
