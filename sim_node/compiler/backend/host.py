"""The kernel as the host calls it: loops over a range of threads, around ``@thread`` (ABI in ARCHITECTURE.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sim_node.compiler.analysis.uniformity import ObstacleError
from sim_node.compiler.backend import abi, emit, llvm
from sim_node.compiler.backend.access import LEFT
from sim_node.compiler.backend.lanes import INDEX, Lanes, Vectors, vectors
from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Function
from sim_node.compiler.ir.op import Op
from sim_node.compiler.passes.hoist import Rows, hoist
from sim_node.compiler.passes.ranges import is_check, is_own

SYMBOL = "kernel"  # of every object: names are not part of the code

LONG = 384  # operations of a thread, for which LLVM takes some 50 ms to make lanes of it
SHORT = 24  # vectors of a thread, which masks cost more time than a loop of their own, for full ones, costs LLVM
MASKED = 512  # bits of the vectors whose every instruction takes a mask, so that a few threads run as one too
_SCALAR = frozenset({Op.BOUNDS, Op.CHECK, Op.ATOMIC})  # what keeps a thread from being a lane

# The threads of a launch have no order, which is what parallel_accesses says: LLVM may run several in the lanes of a
# vector with no check at run time whether arrays overlap, and no array need be free of aliases for it. The loop with
# checks, which runs for few threads or none, is left as it is.
# "no-builtins" keeps LLVM from making loops into calls of memset and the like, which no one would link.
_TAIL = f"""
attributes #0 = {{ nounwind "no-builtins" }}
{emit.ACCESS_GROUP} = distinct !{{}}
!1 = distinct !{{!1, !2}}
!2 = !{{!"llvm.loop.parallel_accesses", {emit.ACCESS_GROUP}}}
!3 = !{{!"branch_weights", i32 1048576, i32 1}}
!4 = distinct !{{!4, !2, !5}}
!5 = !{{!"llvm.loop.vectorize.enable", i1 false}}
!6 = !{{!"branch_weights", i32 1, i32 1048576}}
"""


# Only the first thread to fail reports; which one that is, is decided by the order of the range.
_STOP = """
define internal void @stop(ptr %error, i32 %site, i64 %tid, i64 %index, i64 %length) noinline cold #0 {
  %swap = cmpxchg ptr %error, i32 0, i32 1 acq_rel monotonic
  %first = extractvalue { i32, i1 } %swap, 1
  br i1 %first, label %report, label %done
report:
  %at.site = getelementptr i8, ptr %error, i64 4
  store i32 %site, ptr %at.site
  %at.thread = getelementptr i8, ptr %error, i64 8
  store i64 %tid, ptr %at.thread, align 8
  %at.index = getelementptr i8, ptr %error, i64 16
  store i64 %index, ptr %at.index, align 8
  %at.length = getelementptr i8, ptr %error, i64 24
  store i64 %length, ptr %at.length, align 8
  br label %done
done:
  ret void
}
"""


@dataclass(frozen=True)
class Form:
    """How a kernel is written: in rows that are split, or None; in lanes of vectors, or in none, and then why not."""

    rows: Rows | None
    wide: tuple[Vectors, ...]  # one loop after the other, each for what the one before has left
    why: str = ""


def module(function: Function, bits: int = 0) -> str:
    """Emit the LLVM IR of a host object with one symbol, for vectors of so many bits; 0 leaves vectors to LLVM.

    Threads are numbered row by row. Those of a row that pass all checks which a launch can tell (``passes/hoist``) run
    without these, as many at once as a vector has lanes (``lanes.py``), or, where they cannot, in a loop, which LLVM
    vectorises if it can; the rest run checked, up to the first failure.
    """
    how = form(function, bits)
    rows = how.rows
    threads = emit.thread(function, *([rows.free] if rows and not how.wide else ()), stop=_STOP)
    lines = [*_kernel(function, how)]
    if rows or how.wide:
        lines = [*_checked(function, _effort(how)), *lines]
    loops = [line for at, wide in enumerate(how.wide) for line in _vectors(function, _lanes(at), wide)]
    straight = how.wide or (rows is None and _straight(function))
    return threads + "\n".join([*loops, *lines]) + _TAIL + (f"{llvm.STRAIGHT} = !{{}}\n" if straight else "")


def _effort(how: Form) -> str:
    """Say how well to compile the loop with all checks: by how many threads come there, and how they end."""
    if how.wide and how.wide[-1].flat.here is None:
        return "noinline"  # those that fill no vector
    stop = how.rows is None or how.rows.certain
    return "noinline optnone" if stop else "noinline minsize optsize cold"


def form(function: Function, bits: int) -> Form:
    """Choose how a kernel is written for vectors of so many bits.

    One that is left to LLVM is split where its loop gains: threads may be lanes without their checks, or have loops of
    their own; a long one only where its checks are all of its own coordinate, for lanes of it cost LLVM a long time.
    """
    values = [value for block in function.blocks for value in block.body]
    costly = len(values) > LONG and not all(is_own(value, function) for value in values if is_check(value))
    rows = hoist(function) if bits or not costly else None
    why = ""
    if bits:
        free = rows.free if rows else function
        try:
            wide = vectors(free, bits, bits >= MASKED)
            if wide.flat.here is None or wide.size > SHORT:
                return Form(rows, (wide,))
            return Form(rows, (vectors(free, bits, False), wide))
        except ObstacleError as obstacle:
            why = str(obstacle)
    return Form(None if costly or rows is None or _straight(rows.free) else rows, (), why)


def _straight(function: Function) -> bool:
    """Tell whether there is nothing in it for a compiler of loops: none inside a thread, and threads not for lanes.

    A thread that may stop at a check of its own, or that changes memory in one step, is not vectorised.
    """
    return not cfg.has_loop(function) and any(value.op in _SCALAR for block in function.blocks for value in block.body)


def _kernel(function: Function, how: Form) -> Iterator[str]:
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
    yield from _split(function, how) if how.rows or how.wide else _whole(function)
    yield "row.end:"
    yield "  br label %rows"
    yield "done:"
    yield "  ret void"
    yield "}"


def _whole(function: Function) -> Iterator[str]:
    """Run a row by one loop."""
    yield "  br label %all"
    yield from _loop(function, "thread", "all", "%from", "%to", "row.end", "!1")


def _split(function: Function, how: Form) -> Iterator[str]:
    """Run a row in three parts, of which the first and the last are checked."""
    rows, first, after = how.rows, "%from", "%to"
    if rows:
        for i, bound in enumerate(("%from", "%to"), len(function.params)):
            yield f"  {abi.word(i)} = add i32 {bound}, 0"
        lines, (first, after) = emit.straight(rows.safe)
        yield from lines
    yield "  br label %head"
    if rows:
        yield from _call_checked(function, "head", "%from", first, "free")
    else:
        yield from ("head:", "  br label %free")
    if how.wide:
        yield "free:"
        given = _passed(function, "%base", None)
        for at in range(len(how.wide)):
            yield f"  %rest.{at} = call i32 {_lanes(at)}(i32 {first}, i32 {after}, {given})"
            first = f"%rest.{at}"
        yield "  br label %tail"
        after = first
    elif rows:
        yield from _loop(function, rows.free.name, "free", first, after, "tail", "!1")
    yield from _call_checked(function, "tail", after, "%to", "row.end")


def _lanes(at: int) -> str:
    return f"@lanes.{at}"


def _vectors(function: Function, name: str, wide: Vectors) -> Iterator[str]:
    """Emit a loop of vectors, a function that tells from where on threads are left, be it by a check that fails."""
    lanes, partial = Lanes(wide, "left"), wide.flat.here is not None
    least = 1 if partial else wide.lanes
    yield f"define internal i32 {name}(i32 %from, i32 %to, {_passed(function, '%base', None)}) #0 {{"
    yield "start:"
    yield from lanes.heads()
    yield "  %all = sub i32 %to, %from"
    yield f"  %any = icmp sge i32 %all, {least}"
    yield "  br i1 %any, label %lanes, label %left"
    yield "lanes:"
    yield f"  {INDEX} = phi i32 [ %from, %start ], [ %next, %more ]"
    yield f"  {LEFT} = phi i32 [ %all, %start ], [ %over, %more ]"
    yield from lanes.lines("more")
    yield "more:"
    yield f"  %next = add i32 {INDEX}, {wide.lanes}"
    yield f"  %over = sub i32 {LEFT}, {wide.lanes}"
    yield f"  %again = icmp sge i32 %over, {least}"
    yield "  br i1 %again, label %lanes, label %left"
    yield "left:"
    done = "%to" if partial else "%next"
    ways = [f"[ {'%to' if partial else '%from'}, %start ]", f"[ {done}, %more ]"]
    ways += [f"[ {INDEX}, %{label} ]" for label in lanes.checks]
    yield f"  %rest = phi i32 {', '.join(ways)}"
    yield "  ret i32 %rest"
    yield "}"


def _call_checked(function: Function, name: str, first: str, end: str, after: str) -> Iterator[str]:
    yield f"{name}:"
    yield f"  %{name}.any = icmp slt i32 {first}, {end}"
    yield f"  br i1 %{name}.any, label %{name}.run, label %{after}, !prof !6"
    yield f"{name}.run:"
    passed = _passed(function, "%base", None)
    yield f"  %{name}.well = call i1 @checked(i32 {first}, i32 {end}, {passed})"
    yield f"  br i1 %{name}.well, label %{after}, label %done"


def _checked(function: Function, attributes: str) -> Iterator[str]:
    """Emit the loop with all checks, a function of its own since it runs for few threads or none."""
    given = _passed(function, "%base", None)
    yield f"define internal i1 @checked(i32 %from, i32 %to, {given}) {attributes} #0 {{"
    yield "  br label %all"
    yield from _loop(function, "thread", "all", "%from", "%to", "well", "!4")
    yield "well:"
    yield "  ret i1 true"
    yield "done:"
    yield "  ret i1 false"
    yield "}"


def _loop(function: Function, called: str, name: str, first: str, end: str, after: str, metadata: str) -> Iterator[str]:
    yield f"{name}:"
    yield f"  %{name}.any = icmp slt i32 {first}, {end}"
    yield f"  br i1 %{name}.any, label %{name}.thread, label %{after}"
    yield f"{name}.thread:"
    yield f"  %{name}.i = phi i32 [ {first}, %{name} ], [ %{name}.next, %{name}.more ]"
    yield f"  %{name}.w = sext i32 %{name}.i to i64"
    yield f"  %{name}.tid = add nsw i64 %base, %{name}.w"
    yield f"  %{name}.well = call i1 @{called}({_passed(function, f'%{name}.tid', f'%{name}.i')})"
    yield f"  br i1 %{name}.well, label %{name}.more, label %done"
    yield f"{name}.more:"
    yield f"  %{name}.next = add nuw nsw i32 %{name}.i, 1"
    yield f"  %{name}.again = icmp slt i32 %{name}.next, {end}"
    yield f"  br i1 %{name}.again, label %{name}.thread, label %{after}, !llvm.loop {metadata}"


def _passed(function: Function, number: str, last: str | None) -> str:
    """The arguments of a thread by its number; its last coordinate by another name, or not there."""
    own = f"i32 {abi.coordinate(max(function.dims, 1) - 1)}, "
    passed = emit.signature(function).replace("%tid", number)
    return passed.replace(own, f"i32 {last}, " if last else "") if function.dims else passed
