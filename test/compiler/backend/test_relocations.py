"""What relocations write, read back by another rule: the words of x86-64, and the instructions of AArch64 decoded."""

import re
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_node.compiler.backend import elf, llvm
from sim_node.compiler.backend.relocations import MACHINES
from sim_node.compiler.backend.target import target

PLACE = 0x7F12_3456_7000
ROWS = dict(MACHINES.values())
ADRP, ADR, ADD, BL, B = 0x90000001, 0x10000001, 0x91000021, 0x94000000, 0x14000000
LOADS = {278: 0x39400020, 284: 0x79400020, 285: 0xBD400020, 286: 0xFD400020, 299: 0x3DC00020}


def patched(machine, kind, word, at, value):
    width, write = ROWS[machine][kind]
    memory = memoryview(bytearray(24))
    memory[8 : 8 + len(word)] = word
    write(memory, 8, at, value)
    assert not any(memory[:8])
    assert not any(memory[8 + width :])
    return bytes(memory[8 : 8 + width])


@pytest.mark.parametrize(
    ("machine", "kind", "layout", "relative"),
    [
        *(("x86_64", 1, "<Q", False), ("x86_64", 2, "<i", True), ("x86_64", 4, "<i", True), ("x86_64", 24, "<q", True)),
        *(("aarch64", 257, "<Q", False), ("aarch64", 260, "<q", True), ("aarch64", 261, "<i", True)),
    ],
)
@given(distance=st.integers(-(1 << 31), (1 << 31) - 1))
def test_words(machine, kind, layout, relative, distance):
    (word,) = struct.unpack(layout, patched(machine, kind, b"", PLACE, PLACE + distance))
    assert word == (distance if relative else PLACE + distance)


def signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) else value


def instruction(kind, word, at, value):
    (now,) = struct.unpack("<I", patched("aarch64", kind, struct.pack("<I", word), at, value))
    return now


@given(distance=st.integers(-(1 << 31), (1 << 31) - 1), place=st.integers(1 << 33, 1 << 40).map(lambda at: at & ~3))
def test_an_address_is_a_page_and_a_place_in_it(distance, place):
    page = instruction(275, ADRP, place, place + distance)
    low = instruction(277, ADD, place, place + distance)
    assert (page & 0x9F00001F, low & 0xFFC003FF) == (ADRP & 0x9F00001F, ADD & 0xFFC003FF)
    pages = signed(((page >> 5 & 0x7FFFF) << 2) | (page >> 29 & 3), 21)
    assert (place & ~0xFFF) + (pages << 12) + (low >> 10 & 0xFFF) == place + distance


@pytest.mark.parametrize("kind", LOADS)
@given(unit=st.integers(0, 1 << 40))
def test_loads_count_in_their_width(kind, unit):
    shift = (278, 284, 285, 286, 299).index(kind)
    word = instruction(kind, LOADS[kind], PLACE, unit << shift)
    assert (word >> 10 & 0xFFF) << shift == (unit << shift) & 0xFFF
    assert word & 0xFFC003FF == LOADS[kind] & 0xFFC003FF


@given(words=st.integers(-(1 << 25), (1 << 25) - 1))
def test_branches_count_words(words):
    for kind, word in ((282, B), (283, BL)):
        now = instruction(kind, word, PLACE, PLACE + 4 * words)
        assert (now & 0xFC000000, signed(now & 0x3FFFFFF, 26)) == (word, words)


@given(distance=st.integers(-(1 << 20), (1 << 20) - 1))
def test_near_addresses_count_bytes(distance):
    now = instruction(274, ADR, PLACE, PLACE + distance)
    assert signed(((now >> 5 & 0x7FFFF) << 2) | (now >> 29 & 3), 21) == distance


@pytest.mark.parametrize(
    ("kind", "value", "fault"),
    [
        (283, PLACE + (1 << 27), "a branch over 134217728 bytes"),
        (282, PLACE + 2, "a branch over 2 bytes"),
        (275, PLACE + (1 << 32), "an address 1048576 pages away"),
        (274, PLACE + (1 << 20), "an address 1048576 bytes away"),
        (299, 8, "a constant of 16 bytes at offset 8"),
    ],
)
def test_what_does_not_fit_is_refused(kind, value, fault):
    with pytest.raises(elf.ObjectError, match=fault):
        instruction(kind, 0, PLACE, value)


SOURCE = """
@table = internal constant [4 x double] [double 3.0, double 5.0, double 7.0, double 11.0]
@wide = internal constant <4 x float> <float 1.0, float 2.0, float 3.0, float 4.0>
define internal double @other(i64 %i) noinline nounwind {
  %at = getelementptr [4 x double], ptr @table, i64 0, i64 %i
  %v = load double, ptr %at
  ret double %v
}
define double @pick(i64 %i, ptr %to) nounwind {
  %w = load <4 x float>, ptr @wide
  store <4 x float> %w, ptr %to
  %v = call double @other(i64 %i)
  %y = fmul double %v, 0.1
  ret double %y
}
"""


def test_code_of_another_machine_is_whole_and_cannot_be_run_here():
    """Produced by LLVM, laid out and patched as on that machine; running it is left to one."""
    text = SOURCE.replace("4 x float> %w, ptr %to", "4 x float> %w, ptr %to, align 4")
    image = llvm.compile_text(text, target=target("aarch64"))
    elf.check(image, "aarch64")
    if elf.platform.machine() == "x86_64":
        with pytest.raises(elf.ObjectError, match=re.escape("the object is for aarch64, and this is x86_64")):
            elf.load(image)
