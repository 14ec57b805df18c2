"""The kernel as a GPU runs it: each thread of the launch one of the GPU, around ``@thread`` (ABI in ARCHITECTURE.md).

``.entry kernel(begin, end, args, error)``, where ``args`` is the argument block itself, in the space of parameters.
Any grid and block of one dimension that together have ``end - begin`` threads or more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sim_node.compiler.backend import abi, emit, isa, llvm
from sim_node.compiler.ir.function import Function
from sim_node.dtypes import ArrayType, Type

SYMBOL = "kernel"
WIDEST = 16  # bytes that one instruction reads or writes

# Neither contraction nor flushing is asked for, so every multiplication, addition, division and root says .rn, which
# binds the driver's assembler too.
_TAIL = f"""
attributes #0 = {{ nounwind "no-builtins" }}
{emit.ACCESS_GROUP} = distinct !{{}}
!3 = !{{!"branch_weights", i32 1048576, i32 1}}
"""
_CALLS = re.compile(r" // callseq [\d, ]+")  # LLVM counts calls for as long as the process lives
_BESIDE = 24  # bytes of the parameters that are not the block
_NUMBER = ("ctaid", "ntid", "tid")


def assembly(function: Function, name: str, ptx_version: int | None = None, opt_level: int = 3) -> str:
    """Write an optimised function as PTX for the GPU ``name``, as ``sm_90``; for ``ptx_version`` see ``isa.gpu``.

    Raises BuildError where there is no such GPU or version.
    """
    target = isa.gpu(name, ptx_version, parameters=_BESIDE + abi.size(_kinds(function)))
    return _CALLS.sub("", llvm.assembly(module(function), opt_level, target))


def module(function: Function) -> str:
    """Emit the LLVM IR of a GPU's module with one entry."""
    return emit.thread(function) + "\n".join(_kernel(function)) + _TAIL


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


def _kernel(function: Function) -> Iterator[str]:
    yield "declare void @llvm.assume(i1)"
    yield from (f"declare i32 @llvm.nvvm.read.ptx.sreg.{register}.x()" for register in _NUMBER)
    args = f"ptr byval([{abi.size(_kinds(function))} x i8]) align 8 %args"
    yield f"define ptx_kernel void @{SYMBOL}(i64 %begin, i64 %end, {args}, ptr %error) #0 {{"
    yield "start:"
    for register in _NUMBER:
        yield f"  %{register} = call i32 @llvm.nvvm.read.ptx.sreg.{register}.x()"
        yield f"  %{register}.w = zext i32 %{register} to i64"
    yield "  %first = mul nuw nsw i64 %ctaid.w, %ntid.w"
    yield "  %mine = add nuw nsw i64 %first, %tid.w"
    yield "  %tid.n = add nsw i64 %begin, %mine"
    yield "  %any = icmp slt i64 %tid.n, %end"
    yield "  br i1 %any, label %some, label %done"
    yield "some:"
    for word in (*abi.dims(), *abi.words(_kinds(function))):
        yield from emit.load(word)
    yield from emit.split("%tid.n", [abi.coordinate(axis) for axis in range(function.dims)])
    yield from _threads(function)
    yield "done:"
    yield "  ret void"
    yield "}"


def _threads(function: Function) -> Iterator[str]:
    """Run the thread; where arrays of wide elements may start anywhere, in two forms, and the launch is of one."""
    run = f"call i1 @thread({emit.signature(function).replace('%tid', '%tid.n')})"
    wide = alignments(function)
    if wide:
        bits = "0"
        for i, piece in wide.items():
            yield f"  %p{i} = ptrtoint ptr {abi.word(i)} to i64"
            yield f"  %q{i} = and i64 %p{i}, {piece - 1}"
            yield f"  %s{i} = or i64 {bits}, %q{i}"
            bits = f"%s{i}"
        yield f"  %aligned = icmp eq i64 {bits}, 0"
        yield "  br i1 %aligned, label %wide, label %narrow, !prof !3"
        yield "wide:"
        for i, piece in wide.items():
            yield f'  call void @llvm.assume(i1 true) ["align"(ptr {abi.word(i)}, i64 {piece})]'
        yield f"  %well.wide = {run}"
        yield "  br label %done"
        yield "narrow:"
    yield f"  %well = {run}"
    yield "  br label %done"


def _kinds(function: Function) -> list[Type | None]:
    return [param.type for param in function.params]
