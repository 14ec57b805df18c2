"""PTX as the driver's assembler takes it: without what that is known to get wrong, and the same for the same kernel.

Two faults of it, seen in that of CUDA 13 on an H200 by kernels of the fuzzer, and here written around:

- It unrolls loops, and counts the iterations of some wrongly: of one that goes down by 2 as long as the count is below
  ``0xfffffffd``, as numbers without sign. So it is told to unroll none; LLVM did where that is worth it.
- ``abs.s16`` and ``neg.s16`` of -32768 are 32768 to what compares, widens or divides it. So the 32 bits that they are
  computed in are cut.
"""

from __future__ import annotations

import re

_CALLS = re.compile(r" // callseq [\d, ]+")  # LLVM counts calls for as long as the process lives
_PLACE = re.compile(r"^(?:(\$L\w+):|\t(?:@!?%p\d+ )?bra(?:\.uni)? \t(\$L\w+);)", re.MULTILINE)
_LABEL = re.compile(r"^(\$L\w+):.*$(?!\n\t\.pragma)", re.MULTILINE)
_SHORT = re.compile(r"\t(abs|neg)\.s16 \t(%rs\d+), (%rs\d+);")
_CUT = r"\t{ .reg .b32 %w; cvt.s32.s16 %w, \3; \1.s32 %w, %w; cvt.u16.u32 \2, %w; }"


def taken(text: str) -> str:
    """Write LLVM's PTX as the driver's assembler gets it right."""
    text = _SHORT.sub(_CUT, _CALLS.sub("", text))
    seen, heads = set[str](), set[str]()
    for label, target in _PLACE.findall(text):
        if label:
            seen.add(label)
        elif target in seen:
            heads.add(target)
    return _LABEL.sub(lambda its: its[0] + '\n\t.pragma "nounroll";' * (its[1] in heads), text)
