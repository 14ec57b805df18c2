"""Numbers of constants are known; test_static.py uses them."""

import pytest

import sim_node as sn
from sim_node.compiler.frontend.known import Sized, UnknownError, number, python
from sim_node.compiler.frontend.operand import Literal, Static
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op

TWO, THREE = (Value(Op.CONST, sn.int32, (), n) for n in (2, 3))
TID = Value(Op.TID, sn.int32)


def test_numbers():
    assert number(Value(Op.SUB, sn.int32, (TWO, Value(Op.MUL, sn.int32, (TWO, THREE))))) == -4
    by_zero = Value(Op.QUOT, sn.int32, (TWO, Value(Op.CONST, sn.int32, (), 0)))
    for unknown in (TID, by_zero, Value(Op.ADD, sn.int32, (TWO, TID))):
        with pytest.raises(UnknownError):
            number(unknown)


def test_what_operands_are_in_python():
    assert python((Literal(0.5), (TWO, Static(len)))) == (0.5, (2, len))
    for operand, length in [((Literal(1), TID), 2), (Value(Op.TID, sn.vec3), 3)]:
        sized = python(operand)
        assert isinstance(sized, Sized)
        assert len(sized) == length
