"""Kernels as PTX: read as text, and assembled where NVIDIA's assembler is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import samples
from operations import BITCASTS, CASTS, ROWS, source

import sim_node as sn
from sim_node.compiler.backend import isa, ptx
from sim_node.compiler.frontend import lower
from sim_node.compiler.ir.atomic import ATOMICS
from sim_node.compiler.ir.function import Function
from sim_node.compiler.ir.op import SIGNATURES, Op, Rule
from sim_node.compiler.ir.parser import parse
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.pipeline import optimise
from sim_node.dtypes import SCALARS, ArrayType, Vector, bool_, float32
from sim_node.errors import BuildError
from sim_node.lang.kernel import Kernel

GOLDEN = Path(__file__).parent / "golden"
CASES = [
    (op, [kind] * (SIGNATURES[op].arity or 0), bool_ if SIGNATURES[op].rule is Rule.BOOL else kind) for op, kind in ROWS
]
CASES += [(op, [given], wanted) for op, given, wanted in (*CASTS, *BITCASTS)]
CASES += [(Op.RAW, [given], wanted) for _, given, wanted in BITCASTS if given.is_float]
CASES += [(Op.SELECT, [bool_, kind, kind], kind) for kind in SCALARS]
OPS = sorted({op for op, _, _ in CASES}, key=lambda op: op.name)

# What a float may be computed with: rounded to nearest where it is rounded at all. Of the others every one is exact.
ROUNDED = re.compile(
    r"^\s+(?:@\S+\s+)?((?:add|sub|mul|div|sqrt|fma|mad|rcp|rsqrt|ex2|lg2|sin|cos)\.\S*f(?:16|32|64)\S*)", re.M
)
FUSED = {Op.FMA, Op.MULADD}


def built(text: str) -> Function:
    return optimise(verify(parse(text))).entry


def atomic(name: str, kind: str, size: int) -> str:
    operands = ", %x" * ATOMICS[name].operands
    return (
        f"kernel @k(array<{kind}> %p, {kind} %x) {{\nb0:\n  %i = tid i32 {{0}}\n  %b = extract ptr %p {{0}}\n"
        f"  %o = offset ptr %b, %i {{{size}}}\n  %r = atomic {kind} %o{operands} {{@{name}}}\n"
        f"  store %o, %r {{0}}\n  return\n}}"
    )


def check(text: str, fuses: bool) -> None:
    """Every float is rounded to nearest and as the IR says, on whatever assembles the text."""
    assert ".ftz" not in text
    assert ".approx" not in text
    for instruction in ROUNDED.findall(text):
        assert ".rn" in instruction, instruction
        assert fuses or not instruction.startswith(("fma", "mad")), instruction


@cache
def row(op: Op) -> dict[str, str]:
    texts = {}
    for each, kinds, result in CASES:
        if each is op:
            function = built(source(op, kinds, result))
            texts[f"{op.name}_{'_'.join(map(repr, kinds))}_{result!r}"] = ptx.assembly(function, "sm_90")
    return texts


@cache
def atomics() -> dict[str, str]:
    return {
        f"{name}_{kind!r}": ptx.assembly(built(atomic(name, repr(kind), kind.size)), "sm_90")
        for name, line in ATOMICS.items()
        for kind in SCALARS
        if line.takes(kind)
    }


@cache
def kernels() -> dict[str, str]:
    found = [value for value in vars(samples).values() if isinstance(value, Kernel)]
    assert len(found) > 20
    return {kernel.name: ptx.assembly(optimise(lower(kernel)).entry, "sm_90") for kernel in (*found, *HERE)}


@sn.kernel
def advance(x: sn.array(dtype=sn.vec4f), v: sn.array(dtype=sn.vec4f), dt: float):
    i = sn.tid()
    x[i] = x[i] + v[i] * dt


@sn.kernel
def halves(x: sn.array(dtype=sn.float16, ndim=2), factor: sn.float16):
    i, j = sn.tid()
    x[i, j] = (x[i, j] * factor + factor) / sn.float16(3.0)


@sn.kernel
def saxpy(a: float, x: sn.array(dtype=float), y: sn.array(dtype=float)):
    i = sn.tid()
    y[i] = a * x[i] + y[i]


@sn.kernel
def within(x: sn.array(dtype=float)):
    i = sn.tid()
    if i < x.shape[0]:
        x[i] = 1.0


@sn.kernel
def spin(q: sn.array(dtype=sn.quatd), uv: sn.array(dtype=sn.vec2f), c: sn.array(dtype=sn.vec3f)):
    i = sn.tid()
    q[i] = sn.normalize(q[i])
    uv[i] = uv[i] * uv[i][0]
    c[i] = c[i] * 2.0


@sn.kernel
def waves(x: sn.array(dtype=float), y: sn.array(dtype=sn.float64)):
    i = sn.tid()
    x[i] = sn.sin(x[i]) + sn.exp(x[i])
    y[i] = sn.sqrt(sn.log(y[i])) / y[i]


@sn.kernel
def told(x: sn.array(dtype=float)):
    i = sn.tid()
    if x[i] < 0.0:
        print("below", i, x[i])


@sn.kernel
def compared(h: sn.array(dtype=sn.float16), b: sn.array(dtype=sn.uint8), flag: bool, n: int):
    i = sn.tid()
    assert h[i] < sn.float16(0.5)
    assert b[i] < sn.uint8(3)
    assert flag == (n > 2)
    sn.expect_near(sn.float64(h[i]), 0.25, 1.0)


HERE = (advance, compared, halves, saxpy, spin, told, waves)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_operation_is_taken_and_rounds_as_the_ir_says(op):
    for text in row(op).values():
        check(text, op in FUSED)


def test_every_operation_that_computes_has_a_row_here():
    elsewhere = {Op.CONST, Op.TID, Op.PARAM, Op.ARG, Op.MAKE, Op.EXTRACT, Op.OFFSET, Op.LOAD, Op.STORE, Op.ATOMIC}
    elsewhere |= {Op.BOUNDS, Op.CHECK, Op.PRINT, Op.CALL, Op.JUMP, Op.BRANCH, Op.RETURN}
    assert set(OPS) | elsewhere == set(Op)


def test_an_fma_of_the_ir_is_one_instruction_and_a_product_and_a_sum_are_two():
    assert all("fma.rn" in text for text in row(Op.FMA).values())
    text = kernels()["saxpy"]
    assert re.search(r"mul\.rn\.f32.*add\.rn\.f32", text, re.S)
    assert "fma" not in text


def test_every_atomic_operation_is_taken():
    for name, text in atomics().items():
        assert re.search(r"\batom\.", text), name
        check(text, False)


@pytest.mark.parametrize("name", isa.GPUS)
def test_every_gpu_is_written_for(name):
    for function in (optimise(lower(saxpy)).entry, optimise(lower(halves)).entry):
        for version in {isa.GPUS[name], 90}:
            text = ptx.assembly(function, name, version)
            assert f".version {version // 10}.{version % 10}\n.target {name}\n" in text
            check(text, False)


@pytest.mark.parametrize("opt_level", [0, 1, 2, 3])
def test_no_level_of_optimisation_contracts(opt_level):
    for kernel in (saxpy, halves, spin):
        check(ptx.assembly(optimise(lower(kernel)).entry, "sm_90", opt_level=opt_level), False)


def test_kernels_of_every_form_round_to_nearest():
    for name, text in kernels().items():
        check(text, name == "waves")


def test_the_argument_block_is_a_parameter_by_value():
    text = kernels()["saxpy"]
    assert re.search(r"\.entry kernel\(\s*\.param \.u64 kernel_param_0,\s*\.param \.u64 kernel_param_1,", text)
    assert ".param .align 8 .b8 kernel_param_2[56]" in text
    assert ".local" not in text
    assert not re.search(r"\bld\.(?!param|global|relaxed\.gpu\.global)", text.split(".entry")[1])


def test_a_record_of_what_is_printed_gets_its_room_by_one_atomic_addition():
    text = kernels()["told"]
    assert re.search(r"\batom\S*\.add\.u64", text)
    assert re.search(r"\batom\S*\.min\.u64", text)  # where those end that fit


def test_a_check_that_compares_leaves_both_values_in_64_bits():
    text = kernels()["compared"]
    assert "cvt.f64.f16" in text
    for told in (3, np.float64(0.5).view(np.int64)):
        assert re.search(rf"mov\.b64 \t%rd\d+, {told};", text)


def test_threads_are_numbered_in_64_bits():
    assert "mad.lo.s64" in kernels()["saxpy"]
    assert "setp.ge.s64" in kernels()["saxpy"]


def test_16_bytes_are_read_and_written_at_once_where_elements_have_them():
    text = kernels()["advance"]
    assert text.count("ld.global.v4.b32") == 2
    assert text.count("st.global.v4.b32") == 1
    assert text.count("ld.global.b32") == 8  # for arrays that start elsewhere
    text = kernels()["spin"]
    assert text.count("ld.global.v2.b64") == 2
    assert "ld.global.v2.b32" in text


V4 = sn.array(dtype=sn.vec4)


@sn.kernel
def four(a: V4, b: V4, c: V4, d: V4):
    i, j, k, n = sn.tid()
    d[n] = a[i] + b[j] + c[k]


def test_coordinates_and_arrays_of_wide_elements_have_names_of_their_own():
    assert ".visible .entry kernel" in ptx.assembly(optimise(lower(four)).entry, "sm_90")


def test_elements_that_may_start_anywhere_are_not_read_in_pieces():
    kinds = (
        ArrayType(sn.vec4f),
        ArrayType(sn.vec3f),
        ArrayType(sn.vec4f, 1, "strided"),
        sn.vec4f,
        ArrayType(sn.mat44d),
    )
    params = ", ".join(f"{kind.text} %p{i}" for i, kind in enumerate(kinds))
    assert ptx.alignments(parse(f"kernel @k({params}) {{\nb0:\n  return\n}}").entry) == {0: 16, 4: 16}


def test_too_many_bytes_of_arguments_are_refused():
    wide = Vector(float32, 8192)
    function = parse(f"kernel @k({wide.text} %p) {{\nb0:\n  return\n}}").entry
    with pytest.raises(BuildError, match="a GPU takes 32764"):
        ptx.assembly(function, "sm_90")


@pytest.mark.parametrize("kernel", [saxpy, halves], ids=lambda kernel: kernel.name)
def test_the_text_is_what_was_read_and_found_good(kernel):
    llvm, want = (GOLDEN / f"{kernel.name}.ptx").read_text().split("\n", 1)
    if llvm != f"// llvmlite {metadata.version('llvmlite')}":
        pytest.skip(f"the texts were written by {llvm[3:]}")
    text = ptx.assembly(optimise(lower(kernel)).entry, "sm_90")
    assert text == want
    assert text == kernels()[kernel.name]  # which LLVM wrote after others


def together(texts: dict[str, str]) -> str:
    """One module of many, which is assembled faster than each alone."""
    parts = [
        re.sub(r"\b(kernel|waits|pairs|unchecked|print)\b", rf"\g<1>_{i}", text.split(".address_size 64", 1)[1])
        for i, text in enumerate(texts.values())
    ]
    return ".version 7.8\n.target sm_90\n.address_size 64\n" + "\n".join(parts)


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="ptxas, of the CUDA toolkit, is not installed")
@pytest.mark.parametrize("name", ["kernels", "atomics", *(op.name for op in OPS)])
def test_the_assembler_takes_it(name, tmp_path):
    texts = row(Op[name]) if name in Op.__members__ else {"kernels": kernels, "atomics": atomics}[name]()
    (tmp_path / "k.ptx").write_text(together(texts))
    command = ["ptxas", "-arch=sm_90", "-O1", "k.ptx", "-o", "k.cubin"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "k.cubin").stat().st_size


def test_a_kernel_waits_for_the_one_before_it_before_it_touches_memory():
    for name, text in kernels().items():
        entry = text.split(".visible .entry")[1]
        assert "griddepcontrol.wait;" in entry, name  # several times where LLVM split the threads before it
        before = entry.split("griddepcontrol.wait;")[0]
        assert "griddepcontrol.launch_dependents;" in before
        assert not re.search(r"\b(ld\.global|st\.global|atom|red)\b", before), name
        assert ".visible .const .align 4 .u32 waits" in text
    older = ptx.assembly(optimise(lower(saxpy)).entry, "sm_86")
    assert "griddepcontrol" not in older
    assert "waits" not in older


def test_code_that_can_stop_no_thread_says_so():
    told = ".visible .const .align 4 .u32 unchecked"
    assert told in ptx.assembly(optimise(lower(within)).entry, "sm_90")
    assert told not in kernels()["saxpy"]


def test_an_address_with_its_highest_bit_set_is_where_the_address_is():
    entry = kernels()["saxpy"].split(".visible .entry")[1]
    assert len(re.findall(r"ld\.relaxed\.gpu\.global\.b64", entry.split("griddepcontrol.wait;")[0])) == 2
    function = parse(f"kernel @k({ArrayType(float32, 1, 'strided').text} %p) {{\nb0:\n  return\n}}").entry
    assert "relaxed" not in ptx.assembly(function, "sm_90")  # no cell is of those


def test_two_short_threads_run_side_by_side_where_the_grid_is_of_half_of_them():
    entry = kernels()["saxpy"].split(".visible .entry")[1]
    assert ".visible .const .align 4 .u32 pairs" in kernels()["saxpy"]
    parts = [re.findall(r"\b(ld|st)\.global\.b32", part) for part in entry.split("griddepcontrol.wait;")]
    assert ["ld"] * 4 + ["st"] * 2 in [part[:6] for part in parts]  # loads of both before the first store


@pytest.mark.parametrize("kernel", [four, samples.branches], ids=lambda kernel: kernel.name)
def test_others_run_alone(kernel):
    assert "pairs" not in ptx.assembly(optimise(lower(kernel)).entry, "sm_90")
