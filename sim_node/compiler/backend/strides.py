"""How far apart the values of neighbouring lanes are: 0 where all are the same, None where nothing is known.

Of an integer that is modulo its width, of an address in bytes. A value that a check or the length of an array holds
inside of 0 … 2^31 - 1, as each index is, is therefore exactly so far from the first lane's.
"""

from __future__ import annotations

from sim_node.compiler.analysis.uniformity import spread
from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.compiler.passes.flatten import Flat
from sim_node.dtypes import Kind, Scalar, pointer

_MOST = 1 << 24  # so that no vector's lanes go once around an i32


def strides(flat: Flat, axis: int) -> dict[Value, int | None]:
    """Give each value of a function, whose threads all take the same branches, its stride along an axis of tid()."""
    order = cfg.reverse_postorder(flat.function)
    varying = set() if flat.here is None else {flat.here}
    varying |= {v for block in order for v in block.body if v.op is Op.TID and v.number == axis}
    spread(order, varying)
    found: dict[Value, int | None] = {**dict.fromkeys(flat.function.params, 0), **dict.fromkeys(varying)}
    for block in order:
        for value in (*block.params, *block.body):
            stride = _stride(value, found) if value in varying else 0
            found[value] = stride if stride is None or abs(stride) < _MOST else None
    return found


def _stride(value: Value, found: dict[Value, int | None]) -> int | None:
    if value.op is Op.TID:
        return 1
    if value.args and all(found[arg] == 0 for arg in value.args):  # as where what varies was taken from itself
        return 0
    if not _counts(value) or value.op is Op.ARG:
        return None
    apart = [found[arg] for arg in value.args]
    if value.op is Op.BOUNDS:
        return apart[0]
    if value.op is Op.CAST:
        return apart[0] if _whole(value.args[0], value) else None
    first, second = apart[0], apart[1] if len(apart) == 2 else None
    if value.op is Op.MUL:
        for stride, factor in ((first, value.args[1]), (second, value.args[0])):
            if factor.op is Op.CONST and stride is not None:
                return stride * factor.number
        return None
    if first is None or second is None:
        return None
    if value.op is Op.OFFSET:
        return first + second * value.number if _counts(value.args[1]) or second == 0 else None
    return first + second if value.op is Op.ADD else first - second if value.op is Op.SUB else None


def _counts(value: Value) -> bool:
    """Whether it is an address, or an integer that cannot come around below 0."""
    kind = value.type
    return isinstance(kind, Scalar) and (kind is pointer or (kind.kind is Kind.INT and kind.bits >= 32))


def _whole(source: Value, value: Value) -> bool:
    """Whether a conversion keeps lanes apart: where it widens, only of what did not go around."""
    wider = source.type.bits < value.type.bits  # type: ignore[union-attr]
    return _counts(source) and (not wider or source.op in (Op.TID, Op.BOUNDS))
