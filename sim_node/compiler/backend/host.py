"""The kernel as the host calls it: loops over a range of threads, around ``@thread`` (ABI in ARCHITECTURE.md)."""

from __future__ import annotations

from collections.abc import Iterator

from sim_node.compiler.backend import abi, emit, rows
from sim_node.compiler.ir.function import Function
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import bool_

SYMBOL = "kernel"  # of every object: names are not part of the code

# The threads of a launch have no order, which is what parallel_accesses says: LLVM may run several in the lanes of a
# vector with no check at run time whether arrays overlap, and no array need be free of aliases for it.
# "no-builtins" keeps LLVM from making loops into calls of memset and the like, which no one would link.
_TAIL = f"""
attributes #0 = {{ nounwind "no-builtins" }}
{emit.ACCESS_GROUP} = distinct !{{}}
!1 = distinct !{{!1, !2}}
!2 = !{{!"llvm.loop.parallel_accesses", {emit.ACCESS_GROUP}}}
!3 = !{{!"branch_weights", i32 1048576, i32 1}}
!4 = distinct !{{!4, !2}}
"""


def module(function: Function) -> str:
    """Emit the LLVM IR of a host object with one symbol.

    Threads below the length of each array that they index by their own number pass those checks all together. They run
    in a loop of their own, where LLVM, told so, drops the checks and vectorises; the rest run checked, up to the first
    failure.
    """
    return emit.thread(function) + "\n".join(_kernel(function)) + _TAIL


def _kernel(function: Function) -> Iterator[str]:
    known = _checked_by_thread(function)
    yield f"define void @{SYMBOL}(i64 %begin, i64 %end, ptr %args, ptr %error) #0 {{"
    yield "start:"
    for word in abi.words([param.type for param in function.params]):
        yield from _load(word)
    yield "  %from = trunc i64 %begin to i32"  # a launch has less than 2^31 threads
    yield "  %to = trunc i64 %end to i32"
    safe = "%to" if known else "%from"
    for i, length in enumerate(known):
        yield f"  %safe{i} = call i32 @llvm.smin.i32(i32 {safe}, i32 {length})"
        safe = f"%safe{i}"
    yield f"  %rest = call i32 @llvm.smax.i32(i32 %from, i32 {safe})"
    yield "  br label %free"
    yield from (
        _loop(function, "free", "%from", safe, "checked", "!1", known) if known else ("free:", "  br label %checked")
    )
    yield from _loop(function, "checked", "%rest", "%to", "done", "!4", [])
    yield "done:"
    yield "  ret void"
    yield "}"


def _loop(
    function: Function, name: str, first: str, end: str, after: str, metadata: str, known: list[str]
) -> Iterator[str]:
    yield f"{name}:"
    yield f"  %{name}.any = icmp slt i32 {first}, {end}"
    yield f"  br i1 %{name}.any, label %{name}.thread, label %{after}"
    yield f"{name}.thread:"
    yield f"  %{name}.tid = phi i32 [ {first}, %{name} ], [ %{name}.next, %{name}.more ]"
    for i, length in enumerate(known):
        yield f"  %{name}.in{i} = icmp ult i32 %{name}.tid, {length}"
        yield f"  call void @llvm.assume(i1 %{name}.in{i})"
    passed = emit.signature(function).replace("%tid", f"%{name}.tid")
    yield f"  %{name}.well = call i1 @thread({passed})"
    yield f"  br i1 %{name}.well, label %{name}.more, label %done"
    yield f"{name}.more:"
    yield f"  %{name}.next = add nuw nsw i32 %{name}.tid, 1"
    yield f"  %{name}.again = icmp slt i32 %{name}.next, {end}"
    yield f"  br i1 %{name}.again, label %{name}.thread, label %{after}, !llvm.loop {metadata}"


def _checked_by_thread(function: Function) -> list[str]:
    """Name the lengths that the thread's own index is checked against."""
    return list(
        dict.fromkeys(
            abi.length(value.args[1].args[0].number)
            for block in function.blocks
            for value in block.body
            if value.op is Op.BOUNDS and value.args[0].op is Op.TID and value.args[1].op is Op.LENGTH
        )
    )


def _load(word: abi.Word) -> Iterator[str]:
    """Load a word of the argument block, once for all threads."""
    at = f"{word.name}.at"
    yield f"  {at} = getelementptr i8, ptr %args, i64 {word.offset}"
    if word.role is abi.Role.POINTER:
        yield f"  {word.name} = load ptr, ptr {at}, align 8"
    elif word.scalar is bool_:
        yield f"  {word.name}.b = load i8, ptr {at}, align 1"
        yield f"  {word.name} = icmp ne i8 {word.name}.b, 0"
    elif word.scalar is not None:
        yield f"  {word.name} = load {rows.TYPES[repr(word.scalar)]}, ptr {at}, align {word.scalar.size}"
    else:
        yield f"  {word.name}.w = load i64, ptr {at}, align 8"
        yield f"  {word.name} = trunc i64 {word.name}.w to i32"
