"""The rows of the IR: every operation by the types it takes, and a kernel of one operation over arrays."""

from __future__ import annotations

from sim_node.compiler.ir.op import SIGNATURES, Op, Rule
from sim_node.dtypes import SCALARS, Scalar, bool_

ARITHMETIC = [op for op, row in SIGNATURES.items() if row.rule in (Rule.SAME, Rule.BOOL) and op is not Op.BOUNDS]
ROWS = [(op, kind) for op in ARITHMETIC for kind in SCALARS if kind.kind.value in SIGNATURES[op].kinds]
CASTS = [(Op.CAST, source, to) for source in SCALARS for to in SCALARS]
BITCASTS = [
    (Op.BITCAST, source, to)
    for source in SCALARS
    for to in SCALARS
    if source.bits == to.bits and bool_ not in (source, to)
]


def source(op: Op, kinds: list[Scalar], result: Scalar) -> str:
    arrays = "".join(f"array<{kind!r}> %p{i}, " for i, kind in enumerate(kinds))
    loads = "\n".join(
        f"  %b{i} = extract ptr %p{i} {{0}}\n  %o{i} = offset ptr %b{i}, %i {{{kind.size}}}\n"
        f"  %x{i} = load {kind!r} %o{i} {{0}}"
        for i, kind in enumerate(kinds)
    )
    args = ", ".join(f"%x{i}" for i in range(len(kinds)))
    return (
        f"kernel @k({arrays}array<{result!r}> %y) {{\nb0:\n  %i = tid i32 {{0}}\n{loads}\n"
        f"  %r = {op.name.lower()} {result!r} {args}\n  %to = extract ptr %y {{0}}\n"
        f"  %at = offset ptr %to, %i {{{result.size}}}\n  store %at, %r {{0}}\n  return\n}}"
    )
