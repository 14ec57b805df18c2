from hypothesis import given
from hypothesis import strategies as st

from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Block, Edge, Function, Value
from sim_node.compiler.ir.op import Op
from sim_node.compiler.ir.parser import parse
from sim_node.dtypes import bool_

ENDS = {0: Op.RETURN, 1: Op.JUMP, 2: Op.BRANCH}


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 9))
    blocks = []
    for i in range(count):
        targets = draw(st.lists(st.integers(0, count - 1), max_size=2))
        end = Value(ENDS[len(targets)], None, (Value(Op.CONST, bool_, attr=True),) if len(targets) == 2 else ())
        blocks.append(Block(f"b{i}", (), (), end, tuple(Edge(f"b{t}") for t in targets)))
    return Function("f", (), (), (), tuple(blocks))


def reached(function, without=None):
    """Labels that control can come to when one block is taken away."""
    blocks = {block.label: block for block in function.blocks}
    seen, pending = set(), [function.blocks[0].label]
    while pending:
        label = pending.pop()
        if label != without and label not in seen:
            seen.add(label)
            pending += [edge.target for edge in blocks[label].edges]
    return seen


@given(graphs())
def test_a_block_dominates_what_is_unreachable_without_it(function):
    order = cfg.reverse_postorder(function)
    assert {block.label for block in order} == reached(function)
    idom = cfg.dominators(order)
    assert list(idom) == [block.label for block in order]
    for block in order:
        chain, label = set(), idom[block.label]
        while label is not None:
            chain.add(label)
            label = idom[label]
        assert chain == {d.label for d in order if d is not block and block.label not in reached(function, d.label)}
        placed = [other.label for other in order[: order.index(block)]]
        assert chain <= set(placed)


def test_a_chain_longer_than_the_recursion_limit_is_ordered():
    count = 5000
    blocks = [Block(f"b{i}", (), (), Value(Op.JUMP, None), (Edge(f"b{i + 1}"),)) for i in range(count)]
    last = Block(f"b{count}", (), (), Value(Op.RETURN, None))
    assert len(cfg.reverse_postorder(Function("f", (), (), (), (*blocks, last)))) == count + 1


@given(graphs())
def test_a_loop_is_a_block_that_reaches_itself(function):
    around = {block.label: {edge.target for edge in block.edges} for block in function.blocks}
    live = {block.label for block in cfg.reverse_postorder(function)}
    for _ in function.blocks:
        around = {label: targets.union(*(around[t] for t in targets)) for label, targets in around.items()}
    assert cfg.has_loop(function) == any(label in around[label] for label in live)


def test_the_blocks_that_every_way_passes():
    source = """
    kernel @k(bool %c, bool %d) {
    b0:
      branch %c -> b1, b2
    b1:
      branch %d -> b1, b3
    b2:
      jump -> b3
    b3:
      branch %d -> b4, b5
    b4:
      return
    b5:
      return
    }
    """
    order = cfg.reverse_postorder(parse(source).entry)
    assert [block.label for block in cfg.passed_by_all(order)] == ["b0", "b3"]
    endless = "kernel @k() {\nb0:\n  jump -> b1\nb1:\n  jump -> b1\n}\n"
    assert cfg.passed_by_all(cfg.reverse_postorder(parse(endless).entry)) == []
