"""Every operation of the IR, in one enum, with the one table that the verifier, folding, CSE and DCE all read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class Op(Enum):
    """What a value computes."""

    __hash__ = object.__hash__  # Enum's own, of the name, is Python code; every pass looks ops up in tables

    # 1. sources
    CONST = auto()  # attr: a bool, int or float of the type; composites are MAKE of CONST
    TID = auto()  # i32, a coordinate of the thread in the launch; attr: which
    PARAM = auto()  # a function's parameter; attr: its index
    ARG = auto()  # a block's parameter
    # 2. arithmetic, elementwise over types of one scalar; integers wrap at their width
    ADD = auto()
    SUB = auto()
    MUL = auto()
    DIV = auto()  # floats only, correctly rounded
    QUOT = auto()  # integers, truncating; the divisor was checked
    REM = auto()  # integers, sign of the dividend; the divisor was checked
    NEG = auto()
    ABS = auto()
    MIN = auto()  # floats: IEEE 754-2019 minimumNumber
    MAX = auto()
    SQRT = auto()
    FMA = auto()
    MULADD = auto()  # a·b + c, rounded once where the target can, else twice: where no result depends on it
    FLOOR = auto()
    CEIL = auto()
    TRUNC = auto()
    RINT = auto()  # half to even
    # 3. bits: integers and bool
    AND = auto()
    OR = auto()
    XOR = auto()
    INVERT = auto()
    SHL = auto()  # the count is masked to the width
    SHR = auto()  # arithmetic for signed, logical for unsigned
    # 4. comparison, to bool; ordered, but NE is unordered
    EQ = auto()
    NE = auto()
    LT = auto()
    LE = auto()
    GT = auto()
    GE = auto()
    SELECT = auto()  # condition, if true, if false
    # 5. conversion
    CAST = auto()  # by value; float to integer saturates, NaN becomes 0
    BITCAST = auto()  # same width; NaN is canonical on the way out of float
    RAW = auto()  # BITCAST with the bits that a NaN happens to have: where no result depends on them
    # 6. types of several leaves (dtypes): their parts, arrays' descriptors included
    MAKE = auto()  # the leaves of all operands, in order
    EXTRACT = auto()  # attr: the first leaf; the type says how many
    # 7. memory and checks, in the order of the block
    OFFSET = auto()  # address, integer; attr: bytes a step → address
    LOAD = auto()  # address; attr: byte offset
    STORE = auto()  # address, value; attr: byte offset
    ATOMIC = auto()  # address, operands; attr: a name of atomic.ATOMICS → what was there before
    BOUNDS = auto()  # index, length → the index; stops the thread when outside; attr: site
    CHECK = auto()  # condition, and the two scalars that it compares or none; stops the thread when false; attr: site
    PRINT = auto()  # words of 64 bits, that the site's text says how to write; attr: site
    # 8. calls and ends of blocks
    CALL = auto()  # attr: name of a function in the module
    JUMP = auto()
    BRANCH = auto()
    RETURN = auto()


class Rule(Enum):
    """How a result type follows from the operands."""

    NONE = auto()  # no value
    SAME = auto()  # of every operand, which agree
    BOOL = auto()  # bool, or no vector; operands agree
    FREE = auto()  # stated by the value; checked by the op's own rule


@dataclass(frozen=True, slots=True)
class Signature:
    """One row: operand count (None: any), scalar kinds allowed (letters of ``dtypes.Kind``), result rule, effects."""

    arity: int | None
    kinds: str
    rule: Rule
    pure: bool = True
    commutes: bool = False


ALL = "biufp"  # every kind of scalar
_S, _ANY, _NUM, _FLT, _INT, _BIT = Signature, "biuf", "iuf", "f", "iu", "biu"

SIGNATURES: dict[Op, Signature] = {
    Op.CONST: _S(0, _ANY, Rule.FREE),
    Op.TID: _S(0, _INT, Rule.FREE),
    Op.PARAM: _S(0, ALL, Rule.FREE),
    Op.ARG: _S(0, ALL, Rule.FREE),
    Op.ADD: _S(2, _NUM, Rule.SAME, commutes=True),
    Op.SUB: _S(2, _NUM, Rule.SAME),
    Op.MUL: _S(2, _NUM, Rule.SAME, commutes=True),
    Op.DIV: _S(2, _FLT, Rule.SAME),
    Op.QUOT: _S(2, _INT, Rule.SAME),
    Op.REM: _S(2, _INT, Rule.SAME),
    Op.NEG: _S(1, _NUM, Rule.SAME),
    Op.ABS: _S(1, _NUM, Rule.SAME),
    Op.MIN: _S(2, _NUM, Rule.SAME),
    Op.MAX: _S(2, _NUM, Rule.SAME),
    Op.SQRT: _S(1, _FLT, Rule.SAME),
    Op.FMA: _S(3, _FLT, Rule.SAME),
    Op.MULADD: _S(3, _FLT, Rule.SAME),
    Op.FLOOR: _S(1, _FLT, Rule.SAME),
    Op.CEIL: _S(1, _FLT, Rule.SAME),
    Op.TRUNC: _S(1, _FLT, Rule.SAME),
    Op.RINT: _S(1, _FLT, Rule.SAME),
    Op.AND: _S(2, _BIT, Rule.SAME, commutes=True),
    Op.OR: _S(2, _BIT, Rule.SAME, commutes=True),
    Op.XOR: _S(2, _BIT, Rule.SAME, commutes=True),
    Op.INVERT: _S(1, _BIT, Rule.SAME),
    Op.SHL: _S(2, _INT, Rule.SAME),
    Op.SHR: _S(2, _INT, Rule.SAME),
    Op.EQ: _S(2, _ANY, Rule.BOOL, commutes=True),
    Op.NE: _S(2, _ANY, Rule.BOOL, commutes=True),
    Op.LT: _S(2, _NUM, Rule.BOOL),
    Op.LE: _S(2, _NUM, Rule.BOOL),
    Op.GT: _S(2, _NUM, Rule.BOOL),
    Op.GE: _S(2, _NUM, Rule.BOOL),
    Op.SELECT: _S(3, ALL, Rule.FREE),
    Op.CAST: _S(1, ALL, Rule.FREE),
    Op.BITCAST: _S(1, _NUM, Rule.FREE),
    Op.RAW: _S(1, _FLT, Rule.FREE),
    Op.MAKE: _S(None, ALL, Rule.FREE),
    Op.EXTRACT: _S(1, ALL, Rule.FREE),
    Op.OFFSET: _S(2, "iup", Rule.FREE),
    Op.LOAD: _S(1, "p", Rule.FREE, pure=False),
    Op.STORE: _S(2, ALL, Rule.NONE, pure=False),
    Op.ATOMIC: _S(None, "iufp", Rule.FREE, pure=False),
    Op.BOUNDS: _S(2, _INT, Rule.SAME, pure=False),
    Op.CHECK: _S(None, "biuf", Rule.NONE, pure=False),
    Op.PRINT: _S(None, "iuf", Rule.NONE, pure=False),
    Op.CALL: _S(None, ALL, Rule.FREE, pure=False),
    Op.JUMP: _S(0, _ANY, Rule.NONE, pure=False),
    Op.BRANCH: _S(1, "b", Rule.NONE, pure=False),
    Op.RETURN: _S(None, ALL, Rule.NONE, pure=False),
}

WRITES = frozenset({Op.STORE, Op.ATOMIC})  # into the memory at their first operand
ENDS = frozenset({Op.JUMP, Op.BRANCH, Op.RETURN})
