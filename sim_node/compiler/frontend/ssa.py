"""SSA construction while control flow is being laid out; it knows nothing of Python.

Braun, Buchwald, Hack, Leißa, Mallon, Zwinkau (2013), "Simple and Efficient Construction of Static Single Assignment
Form": a read looks for the definition backwards through the blocks and puts a block parameter where paths meet. A block
is sealed once all its predecessors are known; until then its parameters wait for their operands. Two departures: reads
use a work list instead of recursion, so that long functions do not exhaust the stack, and parameters that turn out to
carry one value only are removed at the end, by the same rule, instead of at once; a read already gives that value.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from sim_node.compiler.ir.function import Attr, Block, Edge, Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import Type
from sim_node.errors import Location

# What a read finds where no path has assigned the variable.
UNASSIGNED = Value(Op.ARG, None)


@dataclass(eq=False, slots=True)
class Parameter:
    """A block parameter and, in the order of the block's predecessors, what it receives."""

    value: Value
    block: Draft
    variable: Hashable
    operands: list[Value] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Draft:
    """A block under construction.

    ``path`` says in words when control comes here; where nothing is said, it does as it came to the block ``around``.
    """

    label: str
    path: str = ""
    around: str = ""
    sealed: bool = False
    body: list[Value] = field(default_factory=list)
    definitions: dict[Hashable, Value] = field(default_factory=dict)
    parameters: list[Parameter] = field(default_factory=list)
    predecessors: list[tuple[Draft, str]] = field(default_factory=list)
    end: Value | None = None
    successors: list[tuple[Draft, int]] = field(default_factory=list)  # target, and which of its predecessors this is

    @property
    def when(self) -> str:
        """When control comes here, in words; empty for always."""
        return self.path or self.around


@dataclass(frozen=True, slots=True)
class Missing:
    """A read that some path reaches with nothing assigned; ``mark`` is what the reader left, ``path`` says when."""

    variable: Hashable
    mark: Any
    path: str


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A read that was to find one value on every path, and does not."""

    variable: Hashable
    mark: Any


class Builder:
    """Blocks in the making. ``current`` is where values go; it is None where control cannot come."""

    def __init__(self) -> None:
        self.entry = Draft("entry", sealed=True)
        self.current: Draft | None = self.entry
        self._drafts = 1
        self._constants: dict[tuple[Type, str], Value] = {}
        self._types: dict[Hashable, Type | None] = {}
        self._reads: list[tuple[Value, Hashable, Any, Value | None]] = []
        self._waiting: list[Parameter] = []
        self._parameters: dict[Value, Parameter] = {}

    # values

    def emit(
        self, op: Op, type: Type | None, args: tuple[Value, ...] = (), attr: Attr = None, at: Location | None = None
    ) -> Value:
        """Append a value to the current block."""
        value = Value(op, type, args, attr, at)
        self._here().body.append(value)
        return value

    def constant(self, type: Type, number: bool | int | float) -> Value:
        """Give the constant; there is one of each, at the head of the entry, so that it may be used anywhere."""
        key = (type, repr(number))
        value = self._constants.get(key)
        if value is None:
            value = self._constants[key] = Value(Op.CONST, type, (), number)
        return value

    # control flow

    def block(self, hint: str, path: str = "") -> Draft:
        """Start a block that nothing enters yet; without a path of its own it is reached as the current one is."""
        draft = Draft(f"{hint}{self._drafts}", path, self.current.when if self.current else "")
        self._drafts += 1
        return draft

    def jump(self, target: Draft, path: str = "") -> None:
        """End the current block with a jump."""
        self._end(Value(Op.JUMP, None), (target, path))

    def branch(self, condition: Value, true: Draft, false: Draft, at: Location | None = None, path: str = "") -> None:
        """End the current block with a two-way branch; ``path`` says when the false edge is taken."""
        self._end(Value(Op.BRANCH, None, (condition,), None, at), (true, ""), (false, path))

    def leave(self, values: tuple[Value, ...] = (), at: Location | None = None) -> None:
        """End the current block by returning."""
        self._end(Value(Op.RETURN, None, values, None, at))

    def seal(self, draft: Draft) -> None:
        """State that all predecessors of the block are known."""
        draft.sealed = True
        self._waiting.extend(draft.parameters)
        self._fill()

    def enter(self, draft: Draft, seal: bool = True) -> None:
        """Go on in the block; if it is sealed and nothing leads to it, control cannot come here."""
        if seal:
            self.seal(draft)
        if seal and len(draft.predecessors) == 1:
            ((before, path),) = draft.predecessors
            draft.path = draft.path or path or before.when
        self.current = draft if draft.predecessors else None

    def _here(self) -> Draft:
        assert self.current is not None, "control cannot come here"
        return self.current

    def _end(self, end: Value, *targets: tuple[Draft, str]) -> None:
        draft = self._here()
        draft.end = end
        for target, path in targets:
            draft.successors.append((target, len(target.predecessors)))
            target.predecessors.append((draft, path))
        self.current = None

    # variables

    def write(self, variable: Hashable, value: Value) -> None:
        """Assign the variable in the current block."""
        self._types.setdefault(variable, value.type)
        self._here().definitions[variable] = value

    def read(self, variable: Hashable, mark: Any = None, only: Value | None = None) -> Value:
        """Give the variable's value in the current block, UNASSIGNED where no path assigns it.

        ``mark`` comes back in ``missing`` if some path does not, and in ``unsettled`` if one assigns another value than
        the ``only`` one.
        """
        here = self._here()
        value = self._find(here, variable)
        self._fill()
        value = here.definitions[variable] = self._settled(value)
        self._reads.append((value, variable, mark, only))
        return value

    def _find(self, draft: Draft, variable: Hashable) -> Value:
        passed = []
        while (value := draft.definitions.get(variable)) is None:
            passed.append(draft)
            if not draft.sealed or len(draft.predecessors) > 1:
                value = self._parameter(draft, variable)
                break
            if not draft.predecessors:
                value = UNASSIGNED
                break
            draft = draft.predecessors[0][0]
        for crossed in passed:
            crossed.definitions[variable] = value
        return value

    def _parameter(self, draft: Draft, variable: Hashable) -> Value:
        parameter = Parameter(Value(Op.ARG, self._types.get(variable)), draft, variable)
        draft.parameters.append(parameter)
        self._parameters[parameter.value] = parameter
        draft.definitions[variable] = parameter.value
        if draft.sealed:
            self._waiting.append(parameter)
        return parameter.value

    def _settled(self, value: Value) -> Value:
        """Look through a parameter that can only receive one value, as far as blocks are sealed."""
        if value not in self._parameters:
            return value
        seen, stack, sources = {value}, [value], set[Value]()
        while stack:
            one = stack.pop()
            parameter = self._parameters.get(one)
            if parameter is None:
                sources.add(one)
            elif parameter.block.sealed:
                stack.extend(operand for operand in parameter.operands if operand not in seen)
                seen.update(parameter.operands)
            if len(sources) > 1 or (parameter is not None and not parameter.block.sealed):
                return value
        return sources.pop() if sources else value

    def _fill(self) -> None:
        while self._waiting:
            parameter = self._waiting.pop()
            for predecessor, _ in parameter.block.predecessors:
                parameter.operands.append(self._find(predecessor, parameter.variable))

    # the end

    def finish(self) -> tuple[tuple[Block, ...], Missing | Unsettled | None]:
        """Give the blocks, in reverse post-order, and the first read that may not find what it must."""
        drafts = list(self._ordered())
        same = _Same()
        parameters = [parameter for draft in drafts for parameter in draft.parameters]
        kept = same.without_trivial(parameters)
        missing = self._missing(kept, same)
        if missing is not None:
            return (), missing
        self.entry.body[:0] = self._constants.values()
        # All bodies first: an edge back to the head of a loop carries what only comes later in this order.
        bodies = [tuple([same.rebuilt(value) for value in draft.body]) for draft in drafts]
        live = {draft: [parameter for parameter in draft.parameters if parameter in kept] for draft in drafts}
        return tuple([_block(draft, body, live, same) for draft, body in zip(drafts, bodies, strict=True)]), None

    def _ordered(self) -> Iterable[Draft]:
        order: list[Draft] = []
        seen = {self.entry}
        stack = [(self.entry, iter([target for target, _ in reversed(self.entry.successors)]))]
        while stack:
            draft, targets = stack[-1]
            for target in targets:
                if target not in seen:
                    seen.add(target)
                    stack.append((target, iter([after for after, _ in reversed(target.successors)])))
                    break
            else:
                order.append(draft)
                stack.pop()
        return reversed(order)

    def _missing(self, parameters: dict[Parameter, None], same: _Same) -> Missing | Unsettled | None:
        """Find the first read that reaches UNASSIGNED through parameters, and the path on which it does; or another."""
        reason: dict[Value, str] = {UNASSIGNED: ""}
        grown = True
        while grown:
            grown = False
            for parameter in parameters:
                if parameter.value in reason:
                    continue
                for (predecessor, path), operand in zip(parameter.block.predecessors, parameter.operands, strict=True):
                    found = same.value(operand)
                    if found in reason:
                        reason[parameter.value] = reason[found] or path or predecessor.when
                        grown = True
                        break
        for value, variable, mark, only in self._reads:
            found = same.value(value)
            if found in reason:
                return Missing(variable, mark, reason[found])
            if only is not None and found is not only:
                return Unsettled(variable, mark)
        return None


class _Same:
    """Which parameters stand for another value, and values with those replaced."""

    def __init__(self) -> None:
        self._instead: dict[Value, Value] = {}
        self._rebuilt: dict[Value, Value] = {}

    def value(self, value: Value) -> Value:
        """Follow removed parameters to what they stand for."""
        while value in self._instead:
            value = self._instead[value]
        return value

    def without_trivial(self, parameters: list[Parameter]) -> dict[Parameter, None]:
        """Remove parameters that receive one value besides themselves, to a fixed point; give the others in order."""
        users: dict[Value, list[Parameter]] = {}
        for parameter in parameters:
            for operand in parameter.operands:
                users.setdefault(operand, []).append(parameter)
        kept = dict.fromkeys(parameters)
        work = list(parameters)
        while work:
            parameter = work.pop()
            if parameter not in kept:
                continue
            received = {self.value(operand) for operand in parameter.operands} - {parameter.value}
            if len(received) == 1:
                del kept[parameter]
                (self._instead[parameter.value],) = received
                # whoever receives this one now receives the other: look at them again, now and when the other goes
                again = users.get(parameter.value, [])
                users.setdefault(self._instead[parameter.value], []).extend(again)
                work.extend(again)
        return kept

    def rebuilt(self, value: Value) -> Value:
        """The value over final operands; those come before it in the order of the blocks."""
        if not value.args:
            return value
        args = tuple(map(self.argument, value.args))
        if args == value.args:  # values compare by identity
            return value
        self._rebuilt[value] = new = Value(value.op, value.type, args, value.attr, value.location)
        return new

    def argument(self, value: Value) -> Value:
        """What to write where the value was an operand."""
        while value in self._instead:
            value = self._instead[value]
        return self._rebuilt.get(value, value)


def _block(draft: Draft, body: tuple[Value, ...], live: dict[Draft, list[Parameter]], same: _Same) -> Block:
    assert draft.end is not None, f"block {draft.label} does not end"
    edges = tuple(
        Edge(target.label, tuple([same.argument(parameter.operands[nth]) for parameter in live[target]]))
        for target, nth in draft.successors
    )
    params = tuple([parameter.value for parameter in live[draft]])
    return Block(draft.label, params, body, same.rebuilt(draft.end), edges)
