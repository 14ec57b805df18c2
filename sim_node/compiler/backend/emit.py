"""Writes one optimised function as the LLVM IR of one thread, the same text for every target.

``define internal i1 @thread(i64 %tid, i32 %t0, …, ptr %error)`` takes the thread's number, its coordinates and the
words of the argument block, and returns whether the range goes on. Each target wraps it: the host in loops
(``host.py``).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from sim_node.compiler.backend import abi, rows
from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Block, Edge, Function, Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import Kind, Scalar, bool_, float64, int64, uint64

_SCOPE, _OWN, _OTHERS = 21, 30, 40  # numbers of metadata, one a thread side by side
_TOUCHING = (Op.LOAD, Op.STORE, Op.ATOMIC, Op.PRINT)
ACCESS_GROUP = "!0"  # of every load and store, for the loop that says that threads are independent

# Takes room for a record and fills its head (plan.h); what does not fit is counted and goes behind all that is kept.
_PRINT = """
define internal ptr @print(ptr %error, i32 %site, i64 %tid, i64 %words) noinline cold #0 {
start:
  %at.prints = getelementptr i8, ptr %error, i64 32
  %prints = load ptr, ptr %at.prints
  %at.capacity = getelementptr i8, ptr %prints, i64 8
  %capacity = load i64, ptr %at.capacity
  %at.launch = getelementptr i8, ptr %error, i64 40
  %launch = load i32, ptr %at.launch
  %bytes = shl i64 %words, 3
  %size = add i64 %bytes, 24
  %first = atomicrmw add ptr %prints, i64 %size monotonic
  %after = add i64 %first, %size
  %fits = icmp ule i64 %after, %capacity
  br i1 %fits, label %write, label %full
full:
  %at.lost = getelementptr i8, ptr %prints, i64 24
  %before = atomicrmw add ptr %at.lost, i64 1 monotonic
  %at.end = getelementptr i8, ptr %prints, i64 16
  %old = atomicrmw umin ptr %at.end, i64 %first monotonic
  br label %write
write:
  %place = phi i64 [ %first, %start ], [ %capacity, %full ]
  %records = getelementptr i8, ptr %prints, i64 32
  %record = getelementptr i8, ptr %records, i64 %place
  store i32 %launch, ptr %record
  %at.site = getelementptr i8, ptr %record, i64 4
  store i32 %site, ptr %at.site
  %at.thread = getelementptr i8, ptr %record, i64 8
  store i64 %tid, ptr %at.thread
  %at.words = getelementptr i8, ptr %record, i64 16
  store i64 %words, ptr %at.words
  %at = getelementptr i8, ptr %record, i64 24
  ret ptr %at
}
"""


def thread(*functions: Function, stop: str, before_memory: str = "") -> str:
    """Emit each as ``@thread``, further ones by their own names, and what they call; a target has its own ``@stop``.

    Every thread runs the line ``before_memory`` once, before it touches memory or branches.
    """
    names = ["thread", *(function.name for function in functions[1:])]
    prints = any(value.op is Op.PRINT for block in functions[0].blocks for value in block.body)
    lines = (line for name, function in zip(names, functions) for line in _Thread(function, before_memory).lines(name))
    return "\n".join(lines) + stop + (_PRINT if prints else "")


def straight(function: Function) -> tuple[list[str], list[str]]:
    """Emit a function of one block as lines to stand in another one; and the names of its results."""
    made = _Thread(function)
    (block,) = made.blocks
    lines = [line for value in block.body if made.is_line(value) for line in made.value(value)]
    return lines, [made.names[value] for value in block.end.args]


def side_by_side(function: Function, lanes: int) -> Iterator[str]:
    """Emit a function of one block as several threads, each line once for each: thread n has ``coordinate(0).n``.

    Threads have no order, so what one stores is told to be none of what another loads, and loads can go first.
    """
    made = [_Thread(function, lane=lane) for lane in range(lanes)]
    (block,) = made[0].blocks
    for value in block.body:
        for one in made:
            if one.is_line(value):
                yield from one.value(value)


def scopes(lanes: int) -> Iterator[str]:
    """Declare what the memory of threads side by side is told by: a scope each, and for each the others'."""
    yield "!20 = distinct !{!20}"
    for lane in range(lanes):
        yield f"!{_SCOPE + lane} = distinct !{{!{_SCOPE + lane}, !20}}"
        yield f"!{_OWN + lane} = !{{!{_SCOPE + lane}}}"
        others = ", ".join(f"!{_SCOPE + other}" for other in range(lanes) if other != lane)
        yield f"!{_OTHERS + lane} = !{{{others}}}"


def signature(function: Function) -> str:
    """Declare thread and words of the argument block as parameters, or pass them on by the same names."""
    axes = [f"i32 {abi.coordinate(axis)}" for axis in range(function.dims)]
    words = abi.words([param.type for param in function.params])
    typed = [f"{rows.TYPES[word.scalar.name]} {word.name}" for word in words]
    return ", ".join(["i64 %tid", *axes, *typed, "ptr %error"])


def load(word: abi.Word) -> Iterator[str]:
    """Load a word of the argument block."""
    yield f"  {word.name}.at = getelementptr i8, ptr %args, i64 {word.offset}"
    if word.scalar is bool_:
        yield f"  {word.name}.b = load i8, ptr {word.name}.at, align 1"
        yield f"  {word.name} = icmp ne i8 {word.name}.b, 0"
    else:
        yield f"  {word.name} = load {rows.TYPES[word.scalar.name]}, ptr {word.name}.at, align {word.scalar.size}"


def split(number: str, names: Sequence[str]) -> Iterator[str]:
    """Split the number of a thread into its coordinates, row by row; each gets its name."""
    if len(names) == 1:
        yield f"  {names[0]} = trunc i64 {number} to i32"
        return
    for axis in reversed(range(len(names))):
        yield f"  %e{axis} = sext i32 {abi.extent(axis)} to i64"
        yield f"  %c{axis} = srem i64 {number}, %e{axis}"
        yield f"  {names[axis]} = trunc i64 %c{axis} to i32"
        yield f"  %q{axis} = sdiv i64 {number}, %e{axis}"
        number = f"%q{axis}"


class _Thread:
    """The names of one function's values, and the lines that compute them."""

    def __init__(self, function: Function, before_memory: str = "", lane: int | None = None) -> None:
        self.function, self._before_memory, self._lane = function, before_memory, lane
        self._kept = "" if lane is None else f", !alias.scope !{_OWN + lane}, !noalias !{_OTHERS + lane}"
        self._stops: list[tuple[str, int, str, str]] = []  # of each check: its block, and what there is to report
        self.blocks = _numbered(cfg.reverse_postorder(function))
        self.names: dict[Value, str] = {}
        for i, param in enumerate(function.params):
            self.names[param] = abi.word(i)
        for block in self.blocks:
            for value in (*block.params, *block.body):
                self.names[value] = self._name(value)
        self.incoming = _incoming(self.blocks)

    def _name(self, value: Value) -> str:
        """Name a value; constants, the thread's index and words of the argument block need no line of their own."""
        if value.op is Op.CONST:
            return rows.constant(_scalar(value), value.attr)
        if value.op is Op.TID:
            return abi.coordinate(value.number) + ("" if self._lane is None else f".{self._lane}")
        if value.op is Op.EXTRACT:
            return abi.word(value.args[0].number, value.number)
        if value.op is Op.BOUNDS:
            return self.names[value.args[0]]
        return f"%v{len(self.names)}" if self._lane is None else f"%v{self._lane}.{len(self.names)}"

    def is_line(self, value: Value) -> bool:
        """Whether a value is computed, and not there already by another name."""
        return self.names[value].startswith("%v")

    def lines(self, name: str) -> Iterator[str]:
        """The whole function."""
        yield f"define internal i1 @{name}({signature(self.function)}) alwaysinline #0 {{"
        yield f"  br label %{self.blocks[0].label}"
        for block in self.blocks:
            yield f"{block.label}:"
            for i, param in enumerate(block.params):
                passed = [f"[ {self.names[edge.args[i]]}, %{source} ]" for source, edge in self.incoming[block.label]]
                yield f"  {self.names[param]} = phi {_type(param)} {', '.join(passed)}"
            checks = 0
            for value in block.body:
                if value.op in (Op.BOUNDS, Op.CHECK):
                    yield from self._check(value, _part(block.label, checks))
                    checks += 1
                elif self.is_line(value):
                    if value.op in _TOUCHING:
                        yield from self._touching()
                    yield from self.value(value)
            yield from self._touching()
            yield from self._end(block)
        yield from self._stopped()
        yield "}"

    def _touching(self) -> Iterator[str]:
        """Write what comes before memory is touched, where that is not done."""
        if self._before_memory:
            yield self._before_memory
            self._before_memory = ""

    def _stopped(self) -> Iterator[str]:
        """Report whatever check failed, in one place, and leave the range."""
        if not self._stops:
            return
        yield "stopped:"
        for name, kind, at in (("site", "i32", 1), ("index", "i64", 2), ("length", "i64", 3)):
            passed = ", ".join(f"[ {stop[at]}, %{stop[0]} ]" for stop in self._stops)
            yield f"  %told.{name} = phi {kind} {passed}"
        yield "  call void @stop(ptr %error, i32 %told.site, i64 %tid, i64 %told.index, i64 %told.length)"
        yield "  ret i1 false"

    def value(self, value: Value) -> Iterator[str]:
        """The lines of one value."""
        name = self.names[value]
        if value.op is Op.LOAD:
            yield from self._load(value, name)
        elif value.op is Op.STORE:
            yield from self._store(value, name)
        elif value.op is Op.PRINT:
            yield from self._print(value, name)
        elif value.op is Op.OFFSET:
            yield from self._offset(value, name)
        elif value.op is Op.ATOMIC:
            kind = _scalar(value)
            yield from rows.fill(
                rows.atomic(str(value.attr), kind), name, kind, kind, [self.names[a] for a in value.args]
            )
        else:
            source, result = _scalar(value.args[0]), _scalar(value)
            yield from rows.fill(
                rows.row(value.op, source, result), name, source, result, [self.names[a] for a in value.args]
            )

    def _load(self, value: Value, name: str) -> Iterator[str]:
        kind = _scalar(value)
        yield self._address(value, name)
        group = f"!llvm.access.group {ACCESS_GROUP}{self._kept}"
        memory = f"{_memory(kind)}, ptr {name}.at, align {kind.size}, {group}"
        if kind is bool_:
            yield f"  {name}.b = load {memory}"
            yield f"  {name} = icmp ne i8 {name}.b, 0"
        else:
            yield f"  {name} = load {memory}"

    def _store(self, value: Value, name: str) -> Iterator[str]:
        stored = value.args[1]
        kind, text = _scalar(stored), self.names[stored]
        memory = _memory(kind)
        yield self._address(value, name)
        if kind is bool_:
            yield f"  {name} = zext i1 {text} to i8"
            text = name
        elif kind.is_float:
            yield from rows.fill(rows.CANONICAL, name, kind, kind, [text])
            memory, text = f"i{kind.bits}", name
        group = f"!llvm.access.group {ACCESS_GROUP}{self._kept}"
        yield f"  store {memory} {text}, ptr {name}.at, align {kind.size}, {group}"

    def _address(self, value: Value, name: str) -> str:
        return f"  {name}.at = getelementptr inbounds i8, ptr {self.names[value.args[0]]}, i64 {value.number}"

    def _offset(self, value: Value, name: str) -> Iterator[str]:
        """Step from an address; whatever the steps count was checked."""
        base, steps = value.args
        wide = self.names[steps]
        if _scalar(steps).bits < 64:
            yield f"  {name}.i = {_widened(steps)} {_type(steps)} {wide} to i64"
            wide = f"{name}.i"
        yield f"  {name} = getelementptr inbounds [{value.number} x i8], ptr {self.names[base]}, i64 {wide}"

    def _print(self, value: Value, name: str) -> Iterator[str]:
        yield f"  {name} = call ptr @print(ptr %error, i32 {value.attr}, i64 %tid, i64 {len(value.args)})"
        for i, word in enumerate(value.args):
            yield f"  {name}.{i} = getelementptr i8, ptr {name}, i64 {8 * i}"
            yield f"  store {_type(word)} {self.names[word]}, ptr {name}.{i}, align 8"

    def _check(self, value: Value, label: str) -> Iterator[str]:
        """Go on at ``label`` if all is well, or report and leave the range."""
        first = self.names[value.args[0]]
        condition, told = first, value.args[1:]
        if value.op is Op.BOUNDS:  # unsigned, so that a negative index is above every length
            condition, told = f"%{label}.in", value.args
            yield f"  {condition} = icmp ult {_type(value.args[0])} {first}, {self.names[value.args[1]]}"
        yield from self._touching()
        yield f"  br i1 {condition}, label %{label}, label %{label}.stop, !prof !3"
        yield f"{label}.stop:"
        words = []
        for at, scalar in enumerate(told):
            words.append((yield from self._word(scalar, f"%{label}.told{at}")))
        index, length = words or ("0", "0")
        assert isinstance(value.attr, int)
        self._stops.append((f"{label}.stop", value.attr, index, length))
        yield "  br label %stopped"
        yield f"{label}:"

    def _word(self, value: Value, name: str) -> Generator[str, None, str]:
        """Name the 64 bits in which an error tells a scalar: those of a double, or of an integer with its sign."""
        kind, word = _scalar(value), self.names[value]
        wide = float64 if kind.is_float else int64 if kind.kind is Kind.INT else uint64
        if kind.bits < 64:
            yield from rows.fill(rows.row(Op.CAST, kind, wide), name, kind, wide, [word])
            word = name
        if kind.is_float:
            yield from rows.fill(rows.row(Op.BITCAST, wide, int64), f"{name}.b", wide, int64, [word])
            word = f"{name}.b"
        return word

    def _end(self, block: Block) -> Iterator[str]:
        targets = [f"label %{edge.target}" for edge in block.edges]
        if block.end.op is Op.RETURN:
            yield "  ret i1 true"
        elif block.end.op is Op.JUMP:
            yield f"  br {targets[0]}"
        else:
            other = f"{block.label}.else"  # a block of its own, for a phi tells edges apart by where they come from
            yield f"  br i1 {self.names[block.end.args[0]]}, {targets[0]}, label %{other}"
            yield f"{other}:"
            yield f"  br {targets[1]}"


def _numbered(blocks: Sequence[Block]) -> list[Block]:
    """Label blocks by number: in LLVM labels and values share one space of names."""
    labels = {block.label: f"b{i}" for i, block in enumerate(blocks)}
    return [
        block._replace(label=labels[block.label], edges=tuple(Edge(labels[e.target], e.args) for e in block.edges))
        for block in blocks
    ]


def _incoming(blocks: Sequence[Block]) -> dict[str, list[tuple[str, Edge]]]:
    """List the edges to each block, with the LLVM block that each leaves: checks cut a block into parts."""
    table: dict[str, list[tuple[str, Edge]]] = {block.label: [] for block in blocks}
    for block in blocks:
        checks = sum(value.op in (Op.BOUNDS, Op.CHECK) for value in block.body)
        last = _part(block.label, checks - 1) if checks else block.label
        for source, edge in zip((last, f"{block.label}.else"), block.edges):
            table[edge.target].append((source, edge))
    return table


def _part(label: str, check: int) -> str:
    return f"{label}.{check}"


def _scalar(value: Value) -> Scalar:
    if not isinstance(value.type, Scalar):
        raise TypeError(f"{value.op.name} of {value.type!r} reached a back end; scalarise leaves scalars only")
    return value.type


def _type(value: Value) -> str:
    return rows.TYPES[_scalar(value).name]


def _memory(kind: Scalar) -> str:
    return "i8" if kind is bool_ else rows.TYPES[kind.name]


def _widened(index: Value) -> str:
    return "sext" if _scalar(index).kind is Kind.INT else "zext"
