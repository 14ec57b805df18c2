"""Tests for sim_node.compiler.backend.ptxas; that the bits are right on a GPU is shown by test_integers."""

from __future__ import annotations

import re

import sim_node as sn
from sim_node.compiler.backend import ptx, ptxas
from sim_node.compiler.build import lower, optimise


@sn.kernel
def down(x: sn.array(dtype=sn.uint8), start: sn.int32):
    i = sn.tid()
    for _ in range(start, -2, -2):
        x[i] = x[i] * sn.uint8(10)


@sn.kernel
def sized(x: sn.array(dtype=sn.int16), y: sn.array(dtype=sn.int32)):
    i = sn.tid()
    y[i] = sn.int32(abs(x[i])) + sn.int32(-x[i])


def assembly(kernel):
    return ptx.assembly(optimise(lower(kernel)).entry, "sm_90")


def test_no_loop_is_left_for_the_assembler_to_unroll():
    text = assembly(down)
    labels = {match[1]: match.end() for match in re.finditer(r"^(\$L\w+):.*\n", text, re.MULTILINE)}
    heads = {target for match in re.finditer(r"bra(?:\.uni)? \t(\$L\w+);", text)
             if labels[target := match[1]] < match.start()}  # fmt: skip
    assert len(heads) >= 2  # the loop, and that which waits for its turn to tell an error
    for head in heads:
        assert text[labels[head] :].startswith('\t.pragma "nounroll";\n')
    assert text.count("nounroll") == len(heads)


def test_what_llvm_says_of_a_loop_is_not_said_again():
    text = '$L__BB0_2:                              // %loop\n\t.pragma "nounroll";\n\t@%p1 bra \t$L__BB0_2;\n'
    assert ptxas.taken(text) == text


def test_a_branch_ahead_is_no_loop():
    text = "\t@!%p3 bra \t$L__BB0_2;\n\tbra.uni \t$L__BB0_2;\n$L__BB0_2:\n\tret;\n"
    assert ptxas.taken(text) == text


def test_what_16_bits_do_not_hold_is_cut():
    text = assembly(sized)
    for name in ("abs", "neg"):
        assert f"{name}.s16" not in text
        assert re.search(rf"cvt\.s32\.s16 %w, %rs\d+; {name}\.s32 %w, %w; cvt\.u16\.u32 %rs\d+, %w;", text)


def test_calls_have_no_numbers():
    assert ptxas.taken("\t{ // callseq 12, 0\n") == "\t{\n"
