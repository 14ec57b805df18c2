"""The builder alone, without any Python."""

import pytest

from sim_node.compiler.frontend.ssa import UNASSIGNED, Builder
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import bool_, int32


def one(builder, op=Op.ADD, *args):
    return builder.emit(op, int32, args)


def diamond(builder, left, right):
    """A branch whose sides run the two functions."""
    yes, no, join = builder.block("yes", "yes"), builder.block("no", "no"), builder.block("join")
    builder.branch(builder.constant(bool_, True), yes, no)
    for block, side in ((yes, left), (no, right)):
        builder.enter(block)
        side()
        builder.jump(join)
    builder.enter(join)


def blocks(builder):
    result, missing = builder.finish()
    assert missing is None
    return {block.label[:-1] if block.label != "entry" else "entry": block for block in result}


def test_a_join_has_a_parameter_only_where_values_differ():
    builder = Builder()
    for name in "abc":
        builder.write(name, builder.constant(int32, 0))
    diamond(builder, lambda: builder.write("a", builder.constant(int32, 1)), lambda: builder.write("b", one(builder)))
    a, b, c = (builder.read(name) for name in "abc")
    builder.leave((one(builder, Op.ADD, a, b, c),))
    made = blocks(builder)
    assert len(made["join"].params) == 2
    assert made["join"].body[0].args[:2] == made["join"].params
    assert made["join"].body[0].args[2].op is Op.CONST
    assert [edge.target for edge in made["entry"].edges] == [made["yes"].label, made["no"].label]


def test_a_read_sees_through_joins_that_receive_one_value():
    builder = Builder()
    constant = builder.constant(int32, 7)
    builder.write("k", constant)
    builder.write("n", constant)
    for _ in range(2000):  # longer than the stack is deep
        diamond(builder, lambda: builder.write("n", one(builder)), lambda: None)
    assert builder.read("k") is constant
    assert builder.read("n").op is Op.ARG


def test_loops_carry_only_what_changes():
    builder = Builder()
    builder.write("n", builder.constant(int32, 5))
    builder.write("step", builder.constant(int32, 1))
    outer, inner, after = builder.block("outer"), builder.block("inner"), builder.block("after")
    builder.jump(outer)
    builder.enter(outer, seal=False)
    builder.jump(inner)
    builder.enter(inner, seal=False)
    builder.write("n", one(builder, Op.SUB, builder.read("n"), builder.read("step")))
    builder.branch(builder.constant(bool_, True), inner, after)
    builder.seal(inner)
    builder.enter(after)
    last = builder.block("last")
    builder.branch(builder.constant(bool_, False), outer, last)
    builder.seal(outer)
    builder.enter(last)
    builder.leave((builder.read("n"), builder.read("step")))
    made = blocks(builder)
    assert [len(made[name].params) for name in ("outer", "inner", "after", "last")] == [1, 1, 0, 0]
    assert made["inner"].body[0].args[1].op is Op.CONST
    assert made["last"].end.args == (made["inner"].body[0], made["inner"].body[0].args[1])
    back = made["inner"].edges[0]
    assert back.target == made["inner"].label
    assert back.args == (made["inner"].body[0],)


def test_unassigned_is_found_through_parameters():
    builder = Builder()
    diamond(builder, lambda: builder.write("a", builder.constant(int32, 1)), lambda: None)
    diamond(builder, lambda: None, lambda: None)
    builder.read("a", "the mark")
    builder.leave()
    _, missing = builder.finish()
    assert (missing.variable, missing.mark, missing.path) == ("a", "the mark", "no")


def test_unassigned_everywhere():
    builder = Builder()
    diamond(builder, lambda: None, lambda: None)
    builder.jump(join := builder.block("after"))
    builder.enter(join)
    builder.read("a")
    builder.leave()
    assert builder.finish()[1].variable == "a"
    assert Builder().read("a") is UNASSIGNED


def test_what_is_not_read_does_not_matter():
    builder = Builder()
    diamond(builder, lambda: builder.write("a", builder.constant(int32, 1)), lambda: None)
    builder.leave()
    assert blocks(builder)["join"].params == ()


def test_constants_are_one_each_and_first():
    builder = Builder()
    assert builder.constant(int32, 1) is builder.constant(int32, 1)
    assert builder.constant(int32, 0) is not builder.constant(bool_, False)
    builder.leave((one(builder, Op.ADD, builder.constant(int32, 1)),))
    assert [value.op for value in blocks(builder)["entry"].body] == [Op.CONST, Op.CONST, Op.CONST, Op.ADD]


def test_a_block_that_nothing_enters():
    builder = Builder()
    lost = builder.block("lost")
    builder.leave()
    builder.enter(lost)
    assert builder.current is None
    assert list(blocks(builder)) == ["entry"]


@pytest.mark.parametrize("count", [3000])
def test_long_functions_need_no_deep_stack(count):
    builder = Builder()
    builder.write("a", builder.constant(int32, 0))
    for _ in range(count):
        diamond(builder, lambda: None, lambda: None)
    builder.leave((builder.read("a"),))
    result, missing = builder.finish()
    assert missing is None
    assert len(result) == 3 * count + 1
    assert all(not block.params for block in result)
