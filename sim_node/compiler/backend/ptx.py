"""The kernel as a GPU runs it: each thread of the launch one of the GPU, around ``@thread`` (ABI in ARCHITECTURE.md).

``.entry kernel(begin, end, args, error)``, where ``args`` is the argument block itself, in the space of parameters.
Any grid and block of one dimension that together have ``end - begin`` threads or more.

In a graph a kernel may be begun while the one before it still runs (programmatic dependent launch, from sm_90 on: CUDA
C++ Programming Guide). So each lets the next begin at once, and waits for the one before as late as it can: when its
code is fetched and its arguments are. Such code has the symbol ``waits``, since a graph may use this of no other. Only
grids of few blocks say so: where blocks come and go, each that does costs time.

A short thread without branches that only moves memory leaves most of the GPU's bandwidth unused. So where there are
twice as many threads as the grid has, each of the grid runs two side by side, a block's width apart: the loads of both
go first. Code that can has the symbol ``pairs``.

Code without checks, whose threads never stop, has the symbol ``unchecked``: nobody need wait for what one would tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sim_node.compiler.backend import abi, emit, isa, llvm, ptxas
from sim_node.compiler.backend.target import Target
from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Function
from sim_node.compiler.ir.op import Op
from sim_node.compiler.passes.hoist import hoist
from sim_node.compiler.passes.ranges import is_check
from sim_node.dtypes import ArrayType, Type, int64

SYMBOL, WAITS, PAIRS, UNCHECKED = "kernel", "waits", "pairs", "unchecked"
_WAITS_SINCE = 90
_FEW_BLOCKS = 128
_SHORT = 96  # values of a thread of which two run side by side
_PAIR = 2
_WAIT = '  call void asm sideeffect "griddepcontrol.wait;", "~{memory}"()'
WIDEST = 16  # bytes that one instruction reads or writes

# Threads end in any order, and the error to tell is that of the first in the order of their numbers, as on the host. So
# who is before all others so far writes, one at a time; and the host's flag is set, which it looks at and nothing else.
_STOP = """
define internal void @stop(ptr %error, i32 %site, i64 %tid, i64 %index, i64 %length) alwaysinline cold #0 {
start:
  %at.thread = getelementptr i8, ptr %error, i64 8
  %before = atomicrmw umin ptr %at.thread, i64 %tid syncscope("device") monotonic, align 8
  %first = icmp ult i64 %tid, %before
  br i1 %first, label %wait, label %done
wait:
  %at.lock = getelementptr i8, ptr %error, i64 44
  %swap = cmpxchg ptr %at.lock, i32 0, i32 1 syncscope("device") acquire monotonic, align 4
  %locked = extractvalue { i32, i1 } %swap, 1
  br i1 %locked, label %look, label %wait
look:
  %least = load atomic i64, ptr %at.thread syncscope("device") monotonic, align 8
  %mine = icmp eq i64 %least, %tid
  br i1 %mine, label %report, label %unlock
report:
  store volatile i32 1, ptr %error
  %at.site = getelementptr i8, ptr %error, i64 4
  store volatile i32 %site, ptr %at.site
  %at.index = getelementptr i8, ptr %error, i64 16
  store volatile i64 %index, ptr %at.index
  %at.length = getelementptr i8, ptr %error, i64 24
  store volatile i64 %length, ptr %at.length
  %at.flag = getelementptr i8, ptr %error, i64 48
  %flag = load ptr, ptr %at.flag
  store volatile i32 1, ptr %flag
  br label %unlock
unlock:
  store atomic i32 0, ptr %at.lock syncscope("device") release, align 4
  br label %done
done:
  ret void
}
"""

# Neither contraction nor flushing is asked for, so every multiplication, addition, division and root says .rn, which
# binds the driver's assembler too.
_TAIL = f"""
attributes #0 = {{ nounwind "no-builtins" }}
{emit.ACCESS_GROUP} = distinct !{{}}
!3 = !{{!"branch_weights", i32 1048576, i32 1}}
!4 = distinct !{{!4, !5}}
!5 = !{{!"llvm.loop.unroll.disable"}}
"""
_BESIDE = 24  # bytes of the parameters that are not the block
_NUMBER = ("nctaid", "ctaid", "ntid", "tid")


def assembly(function: Function, name: str, ptx_version: int | None = None, opt_level: int = 3) -> str:
    """Write an optimised function as PTX for the GPU ``name``, as ``sm_90``; for ``ptx_version`` see ``isa.gpu``.

    Raises BuildError where there is no such GPU or version.
    """
    target = check(function, name, ptx_version)
    return ptxas.taken(llvm.assembly(module(function, target), opt_level, target))


def check(function: Function, name: str, ptx_version: int | None = None) -> Target:
    """Give the target that takes the function's arguments; raises BuildError where there is none."""
    return isa.gpu(name, ptx_version, parameters=_BESIDE + abi.size(_kinds(function)))


def module(function: Function, gpu: Target) -> str:
    """Emit the LLVM IR of a GPU's module with one entry."""
    waits, pair = int(gpu.name[3:]) >= _WAITS_SINCE, paired(function)
    text = emit.thread(function, stop=_STOP, before_memory=_WAIT if waits else "")
    tail = "\n".join(emit.scopes(_PAIR)) + "\n" if pair else ""
    if not cfg.has_loop(function) and not alignments(function):
        tail += f"{llvm.COMBINED} = !{{}}\n"  # what is left to do, code generation does, or the driver's assembler
    return text + "\n".join(_kernel(function, waits, pair)) + _TAIL + tail


@dataclass(frozen=True)
class Pair:
    """A thread without checks and branches, and what tells of a row of threads which need none."""

    free: Function
    safe: Function | None


def paired(function: Function) -> Pair | None:
    """Give how two threads run side by side, where that is worth it and can be told from their numbers."""
    ops = {value.op for block in function.blocks for value in block.body}
    if function.dims > 1 or len(function.blocks) > 1 or Op.LOAD not in ops or ops & {Op.ATOMIC, Op.PRINT}:
        return None
    if alignments(function):
        return None
    rows = hoist(function)
    (block,) = rows.free.blocks if rows else function.blocks
    if len(block.body) > _SHORT or any(map(is_check, block.body)):
        return None
    return Pair(rows.free, rows.safe) if rows else Pair(function, None)


def is_unchecked(function: Function) -> bool:
    """Whether no thread of an optimised function can stop itself."""
    return not any(is_check(value) for block in function.blocks for value in block.body)


def alignments(function: Function) -> dict[int, int]:
    """Tell which arrays have elements that may be read in wider pieces than their scalars, and of how many bytes.

    Element sizes decide: those of a contiguous array whose data starts at a multiple of the piece all do.
    """
    found: dict[int, int] = {}
    for i, param in enumerate(function.params):
        if isinstance(param.type, ArrayType) and param.type.layout == "contiguous":
            element = param.type.dtype
            piece = min(element.size & -element.size, WIDEST)
            if piece > element.align:
                found[i] = piece
    return found


def _kernel(function: Function, waits: bool, pair: Pair | None) -> Iterator[str]:
    yield "declare void @llvm.assume(i1)"
    told = {WAITS: waits, PAIRS: pair is not None, UNCHECKED: is_unchecked(function)}
    for symbol in (name for name, is_so in told.items() if is_so):
        yield f"@{symbol} = addrspace(4) constant i32 1"
    yield from (f"declare i32 @llvm.nvvm.read.ptx.sreg.{register}.x()" for register in _NUMBER)
    args = f"ptr byval([{abi.size(_kinds(function))} x i8]) align 8 %args"
    yield f"define ptx_kernel void @{SYMBOL}(i64 %begin, i64 %end, {args}, ptr %error) #0 {{"
    yield "start:"
    for register in _NUMBER:
        yield f"  %{register} = call i32 @llvm.nvvm.read.ptx.sreg.{register}.x()"
        yield f"  %{register}.w = zext i32 %{register} to i64"
    if waits:
        yield f"  %few = icmp ule i32 %nctaid, {_FEW_BLOCKS}"
        yield "  br i1 %few, label %tell, label %begun"
        yield "tell:"
        yield '  call void asm sideeffect "griddepcontrol.launch_dependents;", ""()'
        yield "  br label %begun"
        yield "begun:"
    if pair:
        yield "  %grid = mul nuw nsw i64 %nctaid.w, %ntid.w"
        yield "  %threads = sub nsw i64 %end, %begin"
        yield "  %two = icmp slt i64 %grid, %threads"
        yield "  %twice = zext i1 %two to i64"
        yield "  %width = shl nuw nsw i64 %ntid.w, %twice"
    else:
        yield "  %width = add i64 %ntid.w, 0"
    yield "  %before = mul nuw nsw i64 %ctaid.w, %width"
    yield "  %mine = add nuw nsw i64 %before, %tid.w"
    yield "  %first = add nsw i64 %begin, %mine"
    yield "  %any = icmp slt i64 %first, %end"
    yield "  br i1 %any, label %some, label %done"
    yield "some:"
    cells = {abi.word(i) for i, kind in enumerate(_kinds(function)) if _may_be_cell(kind)}
    block = "some"
    for word in (*abi.dims(), *abi.words(_kinds(function))):
        if word.name in cells:
            yield from _address(word, block)
            block = f"known.{word.name[1:]}"
        else:
            yield from emit.load(word)
    yield from _pair(len(function.params), pair, waits, block) if pair else _once(block)
    yield from emit.split("%tid.n", [abi.coordinate(axis) for axis in range(function.dims)])
    yield from _threads(function)
    yield "over:"
    if pair:
        yield "  %next = add nsw i64 %tid.n, %ntid.w"
        yield "  %more = icmp slt i64 %next, %last"
        yield "  br i1 %more, label %one, label %done, !llvm.loop !4"
    else:
        yield "  br label %done"
    yield "done:"
    yield "  ret void"
    yield "}"


def _once(block: str) -> Iterator[str]:
    """Run the one thread."""
    yield "  br label %one"
    yield "one:"
    yield f"  %tid.n = phi i64 [ %first, %{block} ]"


def _pair(count: int, pair: Pair, waits: bool, block: str) -> Iterator[str]:
    """Run both threads side by side where they need no check, else one and then the other, if there are two."""
    yield "  %second = add nsw i64 %first, %ntid.w"
    yield "  %in = icmp slt i64 %second, %end"
    yield "  %both = and i1 %two, %in"
    yield "  %after = add nsw i64 %second, 1"
    yield "  %alone = add nsw i64 %first, 1"
    yield "  %last = select i1 %both, i64 %after, i64 %alone"
    yield "  br i1 %both, label %pair, label %one"
    yield "pair:"
    for name, number in (("0", "%first"), ("1", "%second")):
        yield f"  {abi.coordinate(0)}.{name} = trunc i64 {number} to i32"
    if pair.safe:
        yield f"  {abi.word(count)} = add i32 {abi.coordinate(0)}.0, 0"
        yield f"  {abi.word(count + 1)} = add i32 {abi.coordinate(0)}.1, 1"
        lines, (begin, end) = emit.straight(pair.safe)
        yield from lines
        yield f"  %early = icmp eq i32 {begin}, {abi.word(count)}"
        yield f"  %late = icmp eq i32 {end}, {abi.word(count + 1)}"
        yield "  %safe = and i1 %early, %late"
        yield "  br i1 %safe, label %beside, label %one, !prof !3"
    else:
        yield "  br label %beside"
    yield "beside:"
    if waits:
        yield _WAIT
    yield from emit.side_by_side(pair.free, _PAIR)
    yield "  br label %done"
    yield "one:"
    ways = [block, *["pair"][: pair.safe is not None]]
    yield f"  %tid.n = phi i64 {', '.join(f'[ %first, %{way} ]' for way in ways)}, [ %next, %over ]"


def _may_be_cell(kind: Type | None) -> bool:
    return isinstance(kind, ArrayType) and kind.layout == "contiguous"


def _address(word: abi.Word, block: str) -> Iterator[str]:
    """Load the address of an array: the word itself, or what is where a word with the highest bit leads.

    That is no kernel's to write, but the graph's before the first of them, so it can be loaded before the wait; from
    where all of the GPU finds the same, which a processor's own cache does not promise before it.
    """
    name = word.name
    cell, known = f"cell.{name[1:]}", f"known.{name[1:]}"
    yield from emit.load(replace(word, name=f"{name}.w", scalar=int64))
    yield f"  {name}.there = icmp slt i64 {name}.w, 0"
    yield f"  br i1 {name}.there, label %{cell}, label %{known}"
    yield f"{cell}:"
    yield f"  {name}.c = and i64 {name}.w, {2**63 - 1}"
    yield f"  {name}.p = inttoptr i64 {name}.c to ptr addrspace(1)"
    yield f'  {name}.v = load atomic i64, ptr addrspace(1) {name}.p syncscope("device") monotonic, align 8'
    yield f"  br label %{known}"
    yield f"{known}:"
    yield f"  {name}.n = phi i64 [ {name}.w, %{block} ], [ {name}.v, %{cell} ]"
    yield f"  {name}.g = inttoptr i64 {name}.n to ptr addrspace(1)"
    yield f"  {name} = addrspacecast ptr addrspace(1) {name}.g to ptr"


def _threads(function: Function) -> Iterator[str]:
    """Run the thread; where arrays of wide elements may start anywhere, in two forms, and the launch is of one."""
    run = f"call i1 @thread({emit.signature(function).replace('%tid', '%tid.n')})"
    wide = alignments(function)
    if wide:
        bits = "0"
        for i, piece in wide.items():
            yield f"  %start{i} = ptrtoint ptr {abi.word(i)} to i64"
            yield f"  %over{i} = and i64 %start{i}, {piece - 1}"
            yield f"  %apart{i} = or i64 {bits}, %over{i}"
            bits = f"%apart{i}"
        yield f"  %aligned = icmp eq i64 {bits}, 0"
        yield "  br i1 %aligned, label %wide, label %narrow, !prof !3"
        yield "wide:"
        for i, piece in wide.items():
            yield f'  call void @llvm.assume(i1 true) ["align"(ptr {abi.word(i)}, i64 {piece})]'
        yield f"  %well.wide = {run}"
        yield "  br label %over"
        yield "narrow:"
    yield f"  %well = {run}"
    yield "  br label %over"


def _kinds(function: Function) -> list[Type | None]:
    return [param.type for param in function.params]
