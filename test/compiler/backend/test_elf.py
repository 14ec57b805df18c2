import ctypes
import struct
import subprocess
import sys

import pytest

from sim_node.compiler.backend import elf, llvm

# A constant in memory, so that the object has relocations of more than one section.
SOURCE = """
@table = internal constant [4 x i64] [i64 3, i64 5, i64 7, i64 11]
@entries = internal constant [2 x ptr] [ptr @table, ptr @pick]
define i64 @pick(i64 %i) nounwind {
  %at = getelementptr [4 x i64], ptr @table, i64 0, i64 %i
  %v = load i64, ptr %at
  ret i64 %v
}
define double @third(double %x) nounwind {
  %y = fdiv double %x, 3.0
  ret double %y
}
"""


@pytest.fixture(scope="module")
def image():
    return llvm.compile_text(SOURCE)


def test_code_and_its_constants_are_where_they_should(image):
    code = elf.load(image)
    assert code.symbols.keys() == {"pick", "third"}
    pick = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(code.symbols["pick"])
    assert [pick(i) for i in range(4)] == [3, 5, 7, 11]
    third = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(code.symbols["third"])
    assert third(1.0) == 1 / 3


def test_memory_is_executable_and_not_writable(image):
    address = elf.load(image)
    with open("/proc/self/maps") as maps:
        rights = [
            line.split()[1]
            for line in maps
            for low, high in [[int(end, 16) for end in line.split()[0].split("-")]]
            if low <= address.symbols["pick"] < high
        ]
    assert rights == ["r-xp"]


def test_what_an_object_calls_outside_is_named():
    source = """
    declare double @fmod(double, double)
    define double @f(double %x) {
      %y = call double @fmod(double %x, double %x)
      ret double %y
    }
    """
    with pytest.raises(elf.UndefinedSymbolError, match="the object needs 'fmod'"):
        elf.load(llvm.compile_text(source))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda o: b"", "the object is damaged"),
        (lambda o: o[:40], "the object is damaged"),
        (lambda o: o[:100], "the object is damaged"),
        (lambda o: b"MZ" + o[2:], "not a relocatable 64-bit little-endian ELF object"),
        (lambda o: o[:4] + b"\1" + o[5:], "not a relocatable 64-bit"),
        (lambda o: o[:16] + b"\2" + o[17:], "not a relocatable 64-bit"),
        (lambda o: o[:18] + b"\xb7\0" + o[20:], "the object is for aarch64, and this is x86_64"),
        (lambda o: o[:18] + b"\x99\0" + o[20:], "the object is for machine 153, and this is x86_64"),
        (lambda o: o[:58] + b"\x41\0" + o[60:], "section headers of 65 bytes"),
        (lambda o: o[:60] + b"\0\0" + o[62:], "the object holds no code"),
    ],
)
def test_a_damaged_object_is_refused_by_name(image, change, fault):
    with pytest.raises(elf.ObjectError, match=fault):
        elf.load(change(image))


def test_an_unknown_relocation_is_named(image):
    header = struct.unpack_from("<Q", image, 40)[0]
    count = struct.unpack_from("<H", image, 60)[0]
    sections = [struct.unpack_from("<IIQQQQIIQQ", image, header + 64 * i) for i in range(count)]
    at = next(section[4] for section in sections if section[1] == 4) + 8
    with pytest.raises(elf.ObjectError, match="relocation type 250 of x86_64 is not supported"):
        elf.load(image[:at] + b"\xfa\0\0\0" + image[at + 4 :])


FUZZ = """
import random, sys
from sim_node.compiler.backend import elf
image = open(sys.argv[1], "rb").read()
random.seed(1)
loaded = refused = 0
for _ in range(1500):
    damaged = bytearray(image)
    for _ in range(random.choice((1, 1, 2, 8))):
        at = random.choice((random.randrange(len(image)), random.randrange(64), len(image) - 1 - random.randrange(640)))
        damaged[at] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))
    cut = random.choice((len(image), len(image), random.randrange(len(image))))
    try:
        elf.load(bytes(damaged[:cut]))
        loaded += 1
    except elf.ObjectError:
        refused += 1
print(loaded, refused)
"""


def test_no_damage_crashes_the_loader(image, tmp_path):
    """Each of some thousand damaged objects loads or is refused; nothing else is raised, and the process lives."""
    (tmp_path / "image.o").write_bytes(image)
    done = subprocess.run(
        [sys.executable, "-c", FUZZ, tmp_path / "image.o"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    loaded, refused = map(int, done.stdout.split())
    assert loaded > 100
    assert refused > 100
