"""The control flow of a function: order, predecessors, dominators."""

from __future__ import annotations

from sim_node.compiler.ir.function import Block, Function


def reverse_postorder(function: Function) -> list[Block]:
    """Order the reachable blocks so that each comes after the blocks that dominate it."""
    blocks = {block.label: block for block in function.blocks}
    entry = function.blocks[0]
    seen, order = {entry.label}, list[Block]()
    # An explicit stack: a long kernel must not meet Python's recursion limit. The last edge goes first, so that in
    # the reversed order the first edge's blocks come first.
    stack = [(entry, [edge.target for edge in entry.edges])]
    while stack:
        block, targets = stack[-1]
        while targets:
            label = targets.pop()
            if label not in seen:
                seen.add(label)
                block = blocks[label]
                stack.append((block, [edge.target for edge in block.edges]))
                break
        else:
            order.append(block)
            stack.pop()
    return order[::-1]


def has_loop(function: Function) -> bool:
    """Whether a block can be come to again."""
    seen: set[str] = set()
    for block in reverse_postorder(function):
        seen.add(block.label)
        if any(edge.target in seen for edge in block.edges):
            return True
    return False


def predecessors(blocks: list[Block]) -> dict[str, list[Block]]:
    """List, for each label, the blocks among these with an edge to it, once an edge."""
    table: dict[str, list[Block]] = {block.label: [] for block in blocks}
    for block in blocks:
        for edge in block.edges:
            table[edge.target].append(block)
    return table


def dominators(order: list[Block]) -> dict[str, str | None]:
    """Give each block of a reverse postorder, in that order, its immediate dominator; the entry has none.

    Cooper, Harvey and Kennedy (2001), "A Simple, Fast Dominance Algorithm".
    """
    rank = {block.label: i for i, block in enumerate(order)}
    before = predecessors(order)
    entry = order[0].label
    idom: dict[str, str] = {entry: entry}

    def meet(a: str, b: str) -> str:
        while a != b:
            if rank[a] > rank[b]:
                a = idom[a]
            else:
                b = idom[b]
        return a

    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            known = [p.label for p in before[block.label] if p.label in idom]
            best = known[0]
            for label in known[1:]:
                best = meet(best, label)
            if idom.get(block.label) != best:
                idom[block.label] = best
                changed = True
    return {block.label: None if block.label == entry else idom[block.label] for block in order}


def passed_by_all(order: list[Block]) -> list[Block]:
    """List the blocks of a reverse postorder that are on every way from the entry to a return."""
    idom = dominators(order)
    above: dict[str, list[str]] = {}
    for block in order:
        over = idom[block.label]
        above[block.label] = [*(above[over] if over is not None else ()), block.label]
    ends = [set(above[block.label]) for block in order if not block.edges]
    return [block for block in order if ends and all(block.label in ways for ways in ends)]
