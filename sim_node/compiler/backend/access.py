"""Memory in vectors: one address for all lanes, neighbours in a row, or lanes that each go somewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sim_node.compiler.backend import rows
from sim_node.compiler.backend.weave import Weave, apart, together
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import Scalar, bool_

if TYPE_CHECKING:
    from sim_node.compiler.backend.lanes import Lanes


LEFT = "%lanes.left"  # how many threads there are from the first lane's on


class Access:
    """One LOAD or STORE of the lanes of a vector."""

    def __init__(self, value: Value, lanes: Lanes) -> None:
        self.value, self.lanes = value, lanes
        moved = value.args[1].type if value.op is Op.STORE else value.type
        assert isinstance(moved, Scalar)
        self.kind = moved
        self.address = value.args[0]
        self.mask, here = lanes.flat.masks.get(value), lanes.flat.here
        self.all = self.mask is here  # every lane that has a thread does it
        self.stride = lanes.strides[self.address]
        self.single = self.stride == 0 and (value.op is Op.LOAD or self.all)
        # a mask may leave the first lane out, whose address is then of no array; the others are still behind it
        self.even = self.stride is not None and (self.all or self.stride > 0)
        self.row = self.stride == self.kind.size

    def wanted(self) -> list[Value]:
        """What it needs as vectors."""
        found = [] if self.single or self.even else [self.address]
        if self.value.op is Op.STORE and not (self.single and self.lanes.strides[self.value.args[1]] == 0):
            found.append(self.value.args[1])
        return found

    def lines(self) -> Iterator[str]:
        """Write it, or, where it is one of several that are made at once, all of them or nothing."""
        weave = self.lanes.weaves.get(self.value)
        if weave is None:
            yield from self._load() if self.value.op is Op.LOAD else self._store()
        elif self.value.op is Op.LOAD and self.value is weave.members[0]:
            yield from self._loads(weave)
        elif self.value.op is Op.STORE and self.value is weave.members[-1]:
            yield from self._stores(weave)

    def _loads(self, weave: Weave) -> Iterator[str]:
        lanes, name, size = self.lanes, f"%x{self.lanes.numbers[self.value]}.w", self.kind.size
        vectors = [f"{name}{row}" for row in range(weave.parts)]
        kind = lanes.kind(self.memory)
        for row, vector in enumerate(vectors):
            at = row * size * lanes.lanes
            yield f"  {vector}.at = getelementptr i8, ptr {lanes.one(self.address)}, i64 {at}"
            if self.mask is None:
                yield f"  {vector} = load {kind}, ptr {vector}.at, align {size}"
                continue
            mask = lanes.there(row, weave.parts)
            given = f"ptr align {size} {vector}.at, {lanes.kind('i1')} {mask}, {kind} zeroinitializer"
            yield f"  {vector} = call {kind} @llvm.masked.load.v{lanes.lanes}{self._suffix()}.p0({given})"
        for member in weave.members:
            yield from apart(vectors, weave.part(member), self.memory, lanes.lanes, lanes.each(member))

    def _stores(self, weave: Weave) -> Iterator[str]:
        lanes, name, size = self.lanes, f"%x{self.lanes.numbers[self.value]}.w", self.kind.size
        parts = [""] * weave.parts
        for member in weave.members:
            text, part = lanes.each(member.args[1]), weave.part(member)
            if self.kind.is_float:
                made = f"{name}c{part}"
                yield from rows.fill(rows.CANONICAL, made, self.kind, self.kind, [text], lanes.lanes)
                text = made
            parts[part] = text
        memory = f"i{self.kind.bits}" if self.kind.is_float else self.memory
        for row in range(weave.parts):
            vector, at = f"{name}{row}", row * size * lanes.lanes
            yield from together(parts, row, memory, lanes.lanes, vector)
            yield f"  {vector}.at = getelementptr i8, ptr {lanes.one(self.address)}, i64 {at}"
            kind = lanes.kind(memory)
            if self.mask is None:
                yield f"  store {kind} {vector}, ptr {vector}.at, align {size}"
                continue
            mask = lanes.there(row, weave.parts)
            given = f"{kind} {vector}, ptr align {size} {vector}.at, {lanes.kind('i1')} {mask}"
            yield f"  call void @llvm.masked.store.v{lanes.lanes}{memory}.p0({given})"

    @property
    def memory(self) -> str:
        """The type that lies in memory, of one lane."""
        return "i8" if self.kind is bool_ else rows.TYPES[self.kind.name]

    def _load(self) -> Iterator[str]:
        lanes, value, size = self.lanes, self.value, self.kind.size
        name = lanes.one(value) if self.single else lanes.each(value)
        kind = self.memory if self.single else lanes.kind(self.memory)
        raw = f"{name}.b" if self.kind is bool_ else name
        if self.single:
            yield from self._at(name)
            at = f"{name}.at"
            if self.mask is not None and not self.all:  # with no thread there, the address may be anywhere: this is one
                some = yield from lanes.any(self.mask)
                yield f"  {name}.to = select i1 {some}, ptr {at}, ptr %error"
                at = f"{name}.to"
            yield f"  {raw} = load {kind}, ptr {at}, align {size}"
        elif self.row:
            yield from self._at(name)
            if self.mask is None:
                yield f"  {raw} = load {kind}, ptr {name}.at, align {size}"
            else:
                given = f"ptr align {size} {name}.at, {self._here()}, {kind} zeroinitializer"
                yield f"  {raw} = call {kind} @llvm.masked.load.v{lanes.lanes}{self._suffix()}.p0({given})"
        else:
            yield from self._each_at(name)
            count = lanes.lanes
            given = f"{lanes.kind('ptr')} align {size} {name}.at, {self._here()}, {kind} zeroinitializer"
            yield f"  {raw} = call {kind} @llvm.masked.gather.v{count}{self._suffix()}.v{count}p0({given})"
        if self.kind is bool_:
            zero = "0" if self.single else "zeroinitializer"
            yield f"  {name} = icmp ne {kind} {raw}, {zero}"

    def _store(self) -> Iterator[str]:
        lanes, stored, size = self.lanes, self.value.args[1], self.kind.size
        alike = self.single and lanes.strides[stored] == 0
        name, count = f"%x{lanes.numbers[self.value]}", 0 if alike else lanes.lanes
        text, memory = (lanes.one if alike else lanes.each)(stored), self.memory
        if self.kind is bool_:
            bit, byte = (lanes.kind("i1"), lanes.kind("i8")) if count else ("i1", "i8")
            yield f"  {name} = zext {bit} {text} to {byte}"
            text = name
        elif self.kind.is_float:
            yield from rows.fill(rows.CANONICAL, name, self.kind, self.kind, [text], count)
            memory, text = f"i{self.kind.bits}", name
        kind = lanes.kind(memory) if count else memory
        if self.single:
            if count:  # the last thread's is what stays
                last = f"i64 {count - 1}"
                if self.mask is not None:
                    yield f"  {name}.c = call i32 @llvm.smin.i32(i32 {LEFT}, i32 {count})"
                    yield f"  {name}.n = sub i32 {name}.c, 1"
                    last = f"i32 {name}.n"
                yield f"  {name}.l = extractelement {kind} {text}, {last}"
                text, kind = f"{name}.l", memory
            yield from self._at(name)
            yield f"  store {kind} {text}, ptr {name}.at, align {size}"
        elif self.row:
            yield from self._at(name)
            if self.mask is None:
                yield f"  store {kind} {text}, ptr {name}.at, align {size}"
            else:
                given = f"{kind} {text}, ptr align {size} {name}.at, {self._here()}"
                yield f"  call void @llvm.masked.store.v{count}{_bits(memory)}.p0({given})"
        else:
            yield from self._each_at(name)
            given = f"{kind} {text}, {lanes.kind('ptr')} align {size} {name}.at, {self._here()}"
            yield f"  call void @llvm.masked.scatter.v{count}{_bits(memory)}.v{count}p0({given})"

    def _at(self, name: str) -> Iterator[str]:
        yield f"  {name}.at = getelementptr i8, ptr {self.lanes.one(self.address)}, i64 {self.value.number}"

    def _each_at(self, name: str) -> Iterator[str]:
        lanes = self.lanes
        if self.even:
            assert self.stride is not None
            yield f"  {name}.0 = getelementptr i8, ptr {lanes.one(self.address)}, i64 {self.value.number}"
            steps = ", ".join(f"i64 {lane * self.stride}" for lane in range(lanes.lanes))
            yield f"  {name}.at = getelementptr i8, ptr {name}.0, {lanes.kind('i64')} <{steps}>"
        else:
            pointers = f"{lanes.kind('ptr')} {lanes.each(self.address)}"
            yield f"  {name}.at = getelementptr i8, {pointers}, i64 {self.value.number}"

    def _here(self) -> str:
        """The mask of the threads that do it."""
        mask = "splat (i1 true)" if self.mask is None else self.lanes.each(self.mask)
        return f"{self.lanes.kind('i1')} {mask}"

    def _suffix(self) -> str:
        return _bits(self.memory) if self.kind.is_integer or self.kind is bool_ else rows.suffix(self.kind)


def _bits(memory: str) -> str:
    return memory
