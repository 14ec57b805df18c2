"""The kernel as the host calls it: loops over a range of threads, around ``@thread`` (ABI in ARCHITECTURE.md)."""

from __future__ import annotations

from collections.abc import Iterator

from sim_node.compiler.backend import abi, emit, llvm
from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Function, Value
from sim_node.compiler.ir.op import Op

SYMBOL = "kernel"  # of every object: names are not part of the code

_SCALAR = frozenset({Op.BOUNDS, Op.CHECK, Op.ATOMIC})  # what keeps a thread from being a lane; of checks, those in it

# The threads of a launch have no order, which is what parallel_accesses says: LLVM may run several in the lanes of a
# vector with no check at run time whether arrays overlap, and no array need be free of aliases for it. The loop with
# checks calls the thread and is left as it is: it runs for few threads or none, and a copy of the thread in it would
# more than double the time to make the code.
# "no-builtins" keeps LLVM from making loops into calls of memset and the like, which no one would link.
_TAIL = f"""
attributes #0 = {{ nounwind "no-builtins" }}
{emit.ACCESS_GROUP} = distinct !{{}}
!1 = distinct !{{!1, !2}}
!2 = !{{!"llvm.loop.parallel_accesses", {emit.ACCESS_GROUP}}}
!3 = !{{!"branch_weights", i32 1048576, i32 1}}
!4 = distinct !{{!4, !2{{checked}}}}
!5 = !{{!"llvm.loop.vectorize.enable", i1 false}}
"""


def module(function: Function) -> str:
    """Emit the LLVM IR of a host object with one symbol.

    Threads are numbered row by row. Within a row, those whose last coordinate is below each length that the kernel
    checks it against pass these checks all together: they run in a loop of their own, where LLVM, told so, drops the
    checks and vectorises; the rest run checked, up to the first failure.
    """
    straight = _straight(function)
    known = [] if straight else _checked_by_thread(function)
    # without such checks the one loop there is must not be left as it is
    tail = _TAIL.replace("{checked}", ", !5" if known else "")
    if straight:
        tail += f"{llvm.STRAIGHT} = !{{}}\n"
    return emit.thread(function) + "\n".join(_kernel(function, known)) + tail


def _straight(function: Function) -> bool:
    """Tell whether there is nothing in it for a compiler of loops: none inside a thread, and threads not for lanes.

    A thread that may stop at a check of its own, or that changes memory in one step, is not vectorised.
    """
    order = cfg.reverse_postorder(function)
    seen: set[str] = set()
    for block in order:
        seen.add(block.label)
        if any(edge.target in seen for edge in block.edges):
            return False
    values = [value for block in order for value in block.body if value.op in _SCALAR]
    return any(not hoisted(value, function) for value in values)


def _kernel(function: Function, known: list[str]) -> Iterator[str]:
    axes = max(function.dims, 1)
    yield f"define void @{SYMBOL}(i64 %begin, i64 %end, ptr %args, ptr %error) #0 {{"
    yield "start:"
    for word in (*abi.dims(), *abi.words([param.type for param in function.params])):
        yield from emit.load(word)
    yield "  br label %rows"
    yield "rows:"
    yield "  %row = phi i64 [ %begin, %start ], [ %row.next, %row.end ]"
    yield "  %any = icmp slt i64 %row, %end"
    yield "  br i1 %any, label %row.start, label %done"
    yield "row.start:"
    if function.dims:
        yield from emit.split("%row", [*(abi.coordinate(axis) for axis in range(axes - 1)), "%from"])
    else:
        yield "  %from = add i32 0, 0"
    yield "  %left = sub i64 %end, %row"
    if axes > 1:
        yield f"  %width = sub i32 {abi.extent(axes - 1)}, %from"
        yield "  %width.w = zext i32 %width to i64"
    else:  # a launch of more threads than an i32 counts, by a kernel that does not ask which it is, goes in parts
        yield "  %width.w = zext i32 1073741824 to i64"
    yield "  %count = call i64 @llvm.smin.i64(i64 %left, i64 %width.w)"
    yield "  %row.next = add nsw i64 %row, %count"
    yield "  %count.n = trunc i64 %count to i32"
    yield "  %to = add nsw i32 %from, %count.n"
    yield "  %from.w = sext i32 %from to i64"
    yield "  %base = sub i64 %row, %from.w"
    safe = "%to" if known else "%from"
    for i, length in enumerate(known):
        yield f"  %safe{i} = call i32 @llvm.smin.i32(i32 {safe}, i32 {length})"
        safe = f"%safe{i}"
    yield f"  %rest = call i32 @llvm.smax.i32(i32 %from, i32 {safe})"
    yield "  br label %free"
    if known:
        yield from _loop(function, "free", "%from", safe, "checked", "!1", known)
    else:
        yield from ("free:", "  br label %checked")
    yield from _loop(function, "checked", "%rest", "%to", "row.end", "!4", [], inlined=not known)
    yield "row.end:"
    yield "  br label %rows"
    yield "done:"
    yield "  ret void"
    yield "}"


def _loop(
    function: Function,
    name: str,
    first: str,
    end: str,
    after: str,
    metadata: str,
    known: list[str],
    *,
    inlined: bool = True,
) -> Iterator[str]:
    yield f"{name}:"
    yield f"  %{name}.any = icmp slt i32 {first}, {end}"
    yield f"  br i1 %{name}.any, label %{name}.thread, label %{after}"
    yield f"{name}.thread:"
    yield f"  %{name}.i = phi i32 [ {first}, %{name} ], [ %{name}.next, %{name}.more ]"
    for i, length in enumerate(known):
        yield f"  %{name}.in{i} = icmp ult i32 %{name}.i, {length}"
        yield f"  call void @llvm.assume(i1 %{name}.in{i})"
    yield f"  %{name}.w = sext i32 %{name}.i to i64"
    yield f"  %{name}.tid = add nsw i64 %base, %{name}.w"
    last = abi.coordinate(max(function.dims, 1) - 1)
    passed = emit.signature(function).replace("%tid", f"%{name}.tid").replace(f"i32 {last},", f"i32 %{name}.i,")
    yield f"  %{name}.well = call i1 @thread({passed}){'' if inlined else ' noinline'}"
    yield f"  br i1 %{name}.well, label %{name}.more, label %done"
    yield f"{name}.more:"
    yield f"  %{name}.next = add nuw nsw i32 %{name}.i, 1"
    yield f"  %{name}.again = icmp slt i32 %{name}.next, {end}"
    yield f"  br i1 %{name}.again, label %{name}.thread, label %{after}, !llvm.loop {metadata}"


def hoisted(value: Value, function: Function) -> bool:
    """Tell whether a check is of the thread's own last coordinate: whole rows pass it before their threads run."""
    return (
        value.op is Op.BOUNDS
        and value.args[0].op is Op.TID
        and value.args[0].number == max(function.dims, 1) - 1
        and value.args[1].op is Op.EXTRACT
    )


def _checked_by_thread(function: Function) -> list[str]:
    """Name the lengths that the thread's own last coordinate is checked against."""
    checks = [value for block in function.blocks for value in block.body if hoisted(value, function)]
    return list(dict.fromkeys(abi.word(check.args[1].args[0].number, check.args[1].number) for check in checks))
