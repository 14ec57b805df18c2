import re

import pytest

from sim_node.compiler.backend import elf, host, llvm
from sim_node.compiler.ir.parser import parse
from sim_node.compiler.passes.pipeline import optimise

CLEAR = """
kernel @clear(array<f32> %y, i32 %n) {
b0:
  %zero = const i32 {0}
  %one = const i32 {1}
  %nil = const f32 {0.0}
  jump -> b1(%zero)
b1(i32 %i):
  %more = lt bool %i, %n
  branch %more -> b2, b3
b2:
  %s1_p = extract ptr %y {0}
  %s1_o = offset ptr %s1_p, %i {4}
  store %s1_o, %nil {0}
  %next = add i32 %i, %one
  jump -> b1(%next)
b3:
  return
}
"""


def test_what_llvm_refuses_is_a_fault_of_ours():
    with pytest.raises(llvm.CodegenError, match="LLVM refuses the emitted code: "):
        llvm.compile_text("define void @kernel() { ret i32 0 }")


def test_a_loop_that_clears_memory_calls_no_memset():
    object_ = llvm.compile_text(host.module(optimise(parse(CLEAR)).entry))
    assert elf.load(object_).symbols.keys() >= {host.SYMBOL}
    assert b"memset" not in object_


def test_no_flag_lets_llvm_change_a_float():
    text = host.module(optimise(parse(CLEAR)).entry)
    assert not re.search(r"\b(fast|contract|reassoc|nnan|ninf|nsz|arcp|afn)\b", text)
    assert "noalias" not in text


def test_the_object_is_the_same_each_time():
    text = host.module(optimise(parse(CLEAR)).entry)
    assert llvm.compile_text(text) == llvm.compile_text(text)
