import ctypes
import os
import platform
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from sim_node.compiler import cache
from sim_node.compiler.backend import elf, llvm
from sim_node.compiler.backend.target import target
from sim_node.compiler.backend.toolchain import NATIVE
from sim_node.compiler.cache import Cache, Holdings
from sim_node.errors import SimNodeError


@pytest.fixture(scope="module")
def image():
    return llvm.compile_text("define i32 @answer() nounwind { ret i32 42 }")


def never():
    raise AssertionError("compiled what the cache holds")


def answer(code: elf.Code) -> int:
    return ctypes.CFUNCTYPE(ctypes.c_int)(code.symbols["answer"])()


def test_an_object_is_compiled_once(image, tmp_path):
    first, later = Cache(tmp_path / "c"), Cache(tmp_path / "c")
    assert answer(first.code("k", NATIVE, lambda: image)) == 42
    assert first.code("k", NATIVE, never) is first.code("k", NATIVE, never)
    assert (first.compiled, first.loaded) == (1, 0)
    assert answer(later.code("k", NATIVE, never)) == 42
    assert (later.compiled, later.loaded) == (0, 1)
    assert os.stat(tmp_path / "c").st_mode & 0o777 == 0o700
    assert [(file.name, file.stat().st_mode & 0o777) for file in (tmp_path / "c").iterdir()] == [("k.o", 0o600)]


NO_ENTRY, CHANGED = "it is no entry of this version's", "it is not what was written"
DAMAGE = [
    (lambda stored: b"", NO_ENTRY),
    (lambda stored: b"sim_node cache 0" + stored[16:], NO_ENTRY),
    (lambda stored: bytes([stored[0] ^ 1]) + stored[1:], NO_ENTRY),
    (lambda stored: stored[:-1], CHANGED),
    (lambda stored: stored[:30], CHANGED),
    (lambda stored: stored[:-1] + bytes([stored[-1] ^ 1]), CHANGED),
    (lambda stored: stored[:20] + bytes([stored[20] ^ 1]) + stored[21:], CHANGED),
]


@pytest.mark.parametrize(("damage", "why"), DAMAGE)
def test_a_damaged_object_is_named_compiled_again_and_replaced(image, tmp_path, damage, why):
    Cache(tmp_path).code("k", NATIVE, lambda: image)
    file = tmp_path / "k.o"
    good = file.read_bytes()
    file.write_bytes(damage(good))
    again = Cache(tmp_path)
    with pytest.warns(RuntimeWarning, match=f"{file} is refused: {why}; it is made again"):
        assert answer(again.code("k", NATIVE, lambda: image)) == 42
    assert (again.compiled, again.loaded) == (1, 0)
    assert file.read_bytes() == good
    assert answer(again.code("k", NATIVE, never)) == answer(Cache(tmp_path).code("k", NATIVE, never)) == 42


@pytest.mark.parametrize(("damage", "why"), DAMAGE)
def test_a_damaged_record_is_named_and_kept_again(tmp_path, damage, why):
    store, file = Cache(tmp_path), tmp_path / "k.json"
    assert store.record("k") is None
    store.keep("k", {"digest": "ä"})
    assert store.record("k") == {"digest": "ä"}
    good = file.read_bytes()
    file.write_bytes(damage(good))
    with pytest.warns(RuntimeWarning, match=f"{file} is refused: {why}"):
        assert store.record("k") is None
    store.keep("k", {"digest": "ä"})
    assert file.read_bytes() == good


def test_an_object_of_another_machine_is_named(image, tmp_path):
    foreign = llvm.compile_text("define i32 @answer() nounwind { ret i32 42 }", target=target("aarch64"))
    store = Cache(tmp_path)
    assert store.image("k", "aarch64", lambda: foreign) == foreign == store.image("k", "aarch64", never)
    if platform.machine() == "x86_64":
        with pytest.warns(RuntimeWarning, match="k.o is refused: the object is for aarch64, and this is x86_64"):
            assert answer(store.code("k", NATIVE, lambda: image)) == 42
        with pytest.warns(RuntimeWarning, match="k.o is refused: the object is for x86_64, and this is aarch64"):
            assert store.image("k", "aarch64", lambda: foreign) == foreign


def unwritable(tmp_path: Path) -> Path:
    (tmp_path / "file").touch()
    return tmp_path / "file" / "cache"


def shared(tmp_path: Path) -> Path:
    tmp_path.chmod(0o770)
    return tmp_path


def full(tmp_path: Path) -> Path:
    (tmp_path / "k.o").mkdir()  # nothing can be moved there
    (tmp_path / "k.o" / "x").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("place", "why"),
    [
        (unwritable, "cannot be made"),
        (shared, "can be written by other users"),
        (full, "cannot be written"),
    ],
)
def test_a_folder_of_no_use_is_told_once_and_all_is_kept_in_memory(image, tmp_path, place, why):
    store = Cache(place(tmp_path))
    with pytest.warns(RuntimeWarning, match=f"{store.path} {why}.*set SIM_NODE_CACHE"):
        assert answer(store.code("k", NATIVE, lambda: image)) == 42
    assert answer(store.code("l", NATIVE, lambda: image)) == 42  # a second warning would be an error
    assert store.code("k", NATIVE, never) is not store.code("l", NATIVE, never)


def test_what_cannot_be_written_can_still_be_read(image, tmp_path):
    Cache(tmp_path).code("before", NATIVE, lambda: image)
    store = Cache(full(tmp_path))
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        store.code("k", NATIVE, lambda: image)
    assert answer(store.code("before", NATIVE, never)) == 42
    store.code("after", NATIVE, lambda: image)  # not tried again, and not told again
    assert not (tmp_path / "after.o").exists()
    assert (store.compiled, store.loaded) == (2, 1)


def test_a_folder_of_another_user_is_not_read(image, tmp_path, monkeypatch):
    Cache(tmp_path).code("k", NATIVE, lambda: image)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    store = Cache(tmp_path)
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        store.code("k", NATIVE, lambda: image)
    assert (store.compiled, store.loaded) == (1, 0)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_folder_is_read(image, tmp_path):
    Cache(tmp_path).code("k", NATIVE, lambda: image)
    tmp_path.chmod(0o500)
    store = Cache(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.code("k", NATIVE, never)
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        store.code("l", NATIVE, lambda: image)


def test_where_the_folder_is(monkeypatch):
    monkeypatch.setenv("SIM_NODE_CACHE", "/own")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    monkeypatch.setenv("HOME", "/home/me")
    assert cache.folder() == Path("/own")
    monkeypatch.delenv("SIM_NODE_CACHE")
    assert cache.folder() == Path("/xdg/sim_node")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.folder() == Path("/home/me/.cache/sim_node")


RACE = """
import ctypes, sys
from pathlib import Path
from sim_node.compiler.backend.toolchain import NATIVE
from sim_node.compiler.cache import Cache, Holdings
from sim_node.errors import SimNodeError
image = Path(sys.argv[1]).read_bytes()
store = Cache(Path(sys.argv[2]))
print("ready", flush=True)
sys.stdin.readline()
for i in range(40):
    code = store.code(f"k{i}", NATIVE, lambda: image)
    assert ctypes.CFUNCTYPE(ctypes.c_int)(code.symbols["answer"])() == 42
print(store.compiled, store.loaded)
"""


def run_together(command):
    """Run eight processes that begin at the same time; returns what they printed at the end."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    crowd = [subprocess.Popen(command, text=True, **pipes) for _ in range(8)]
    for process in crowd:
        assert process.stdout.readline() == "ready\n"
    for process in crowd:
        process.stdin.write("go\n")
        process.stdin.flush()
    printed = []
    for process in crowd:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        printed.append(out)
    return printed


def test_eight_processes_at_once_on_an_empty_folder(image, tmp_path):
    (tmp_path / "image.o").write_bytes(image)
    command = [sys.executable, "-W", "error", "-c", RACE, tmp_path / "image.o", tmp_path / "c"]
    for out in run_together(command):
        assert sum(map(int, out.split())) == 40
    assert sorted(file.name for file in (tmp_path / "c").iterdir()) == sorted(f"k{i}.o" for i in range(40))
    late = Cache(tmp_path / "c")
    for i in range(40):
        late.code(f"k{i}", NATIVE, never)
    assert late.loaded == 40


def test_what_was_used_longest_ago_makes_room(image, tmp_path):
    store = Cache(tmp_path, size=20 * (len(image) + 100))
    for i in range(20):
        store.code(f"k{i}", NATIVE, lambda: image)
        os.utime(tmp_path / f"k{i}.o", (1000 + i, 1000 + i))
    assert answer(Cache(tmp_path).code("k0", NATIVE, never)) == 42  # and is the one used last now
    for i in range(20, 30):
        store.code(f"k{i}", NATIVE, lambda: image)
    left = {file.name for file in tmp_path.iterdir()}
    assert {"k0.o", "k29.o"} <= left
    assert "k1.o" not in left
    assert store.holdings().size <= store.size
    assert answer(store.code("k1", NATIVE, never)) == 42  # what is in memory stays


def test_others_files_stay_and_drafts_of_the_dead_go(image, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    for name, age in ((".draft-old", 7200), (".draft-new", 60)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    store = Cache(tmp_path, size=1)
    store.keep("record", {})
    store.code("k", NATIVE, lambda: image)
    assert {file.name for file in tmp_path.iterdir()} == {"notes.txt", ".draft-new"}


def test_holdings_and_clearing(image, tmp_path):
    store = Cache(tmp_path / "c")
    assert store.holdings() == Holdings(0, 0, 0)
    store.code("k", NATIVE, lambda: image)
    store.keep("k", {})
    held = store.holdings()
    assert (held.objects, held.records) == (1, 1)
    assert held.size == sum(file.stat().st_size for file in (tmp_path / "c").iterdir())
    assert store.clear() == held
    assert store.holdings() == Holdings(0, 0, 0)


def test_the_size_is_a_setting(monkeypatch):
    monkeypatch.delenv("SIM_NODE_CACHE_MIB", raising=False)
    assert cache.limit() == 512 << 20
    monkeypatch.setenv("SIM_NODE_CACHE_MIB", "7")
    assert cache.limit() == 7 << 20
    for wrong in ("0", "-1", "1.5", "lots"):
        monkeypatch.setenv("SIM_NODE_CACHE_MIB", wrong)
        with pytest.raises(SimNodeError, match=f"SIM_NODE_CACHE_MIB is '{wrong}'; write a number of MiB"):
            cache.limit()


CROWDED = """
import ctypes, sys, warnings
from pathlib import Path
from sim_node.compiler.backend.toolchain import NATIVE
from sim_node.compiler.cache import Cache
warnings.simplefilter("error")
image = Path(sys.argv[1]).read_bytes()
print("ready", flush=True)
sys.stdin.readline()
for again in range(3):
    store = Cache(Path(sys.argv[2]), size=10 * len(image))
    for i in range(30):
        code = store.code(f"k{i}", NATIVE, lambda: image)
        assert ctypes.CFUNCTYPE(ctypes.c_int)(code.symbols["answer"])() == 42
print("done")
"""


def test_eight_processes_in_a_folder_too_small_for_them(image, tmp_path):
    (tmp_path / "image.o").write_bytes(image)
    run_together([sys.executable, "-c", CROWDED, tmp_path / "image.o", tmp_path / "c"])
    assert Cache(tmp_path / "c").holdings().size <= 18 * len(image)
