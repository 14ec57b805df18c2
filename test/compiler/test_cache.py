import ctypes
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from sim_node.compiler import cache
from sim_node.compiler.backend import elf, llvm
from sim_node.compiler.cache import Cache


@pytest.fixture(scope="module")
def image():
    return llvm.compile_text("define i32 @answer() nounwind { ret i32 42 }")


def never():
    raise AssertionError("compiled what the cache holds")


def answer(code: elf.Code) -> int:
    return ctypes.CFUNCTYPE(ctypes.c_int)(code.symbols["answer"])()


def test_an_object_is_compiled_once(image, tmp_path):
    first, later = Cache(tmp_path / "c"), Cache(tmp_path / "c")
    assert answer(first.code("k", lambda: image)) == 42
    assert first.code("k", never) is first.code("k", never)
    assert (first.compiled, first.loaded) == (1, 0)
    assert answer(later.code("k", never)) == 42
    assert (later.compiled, later.loaded) == (0, 1)
    assert os.stat(tmp_path / "c").st_mode & 0o777 == 0o700
    assert [(file.name, file.stat().st_mode & 0o777) for file in (tmp_path / "c").iterdir()] == [("k.o", 0o600)]


@pytest.mark.parametrize(
    "damage",
    [
        lambda stored: b"",
        lambda stored: stored[:-1],
        lambda stored: stored[:30],
        lambda stored: stored[:-1] + bytes([stored[-1] ^ 1]),
        lambda stored: bytes([stored[0] ^ 1]) + stored[1:],
        lambda stored: stored[:20] + bytes([stored[20] ^ 1]) + stored[21:],
    ],
)
def test_a_damaged_file_is_compiled_again_and_replaced(image, tmp_path, damage):
    Cache(tmp_path).code("k", lambda: image)
    file = tmp_path / "k.o"
    good = file.read_bytes()
    file.write_bytes(damage(good))
    again = Cache(tmp_path)
    assert answer(again.code("k", lambda: image)) == 42
    assert (again.compiled, again.loaded) == (1, 0)
    assert file.read_bytes() == good


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
        assert answer(store.code("k", lambda: image)) == 42
    assert answer(store.code("l", lambda: image)) == 42  # a second warning would be an error
    assert store.code("k", never) is not store.code("l", never)


def test_what_cannot_be_written_can_still_be_read(image, tmp_path):
    Cache(tmp_path).code("before", lambda: image)
    store = Cache(full(tmp_path))
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        store.code("k", lambda: image)
    assert answer(store.code("before", never)) == 42
    store.code("after", lambda: image)  # not tried again, and not told again
    assert not (tmp_path / "after.o").exists()
    assert (store.compiled, store.loaded) == (2, 1)


def test_a_folder_of_another_user_is_not_read(image, tmp_path, monkeypatch):
    Cache(tmp_path).code("k", lambda: image)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    store = Cache(tmp_path)
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        store.code("k", lambda: image)
    assert (store.compiled, store.loaded) == (1, 0)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_folder_is_read(image, tmp_path):
    Cache(tmp_path).code("k", lambda: image)
    tmp_path.chmod(0o500)
    store = Cache(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.code("k", never)
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        store.code("l", lambda: image)


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
from sim_node.compiler.cache import Cache
image = Path(sys.argv[1]).read_bytes()
store = Cache(Path(sys.argv[2]))
print("ready", flush=True)
sys.stdin.readline()
for i in range(40):
    code = store.code(f"k{i}", lambda: image)
    assert ctypes.CFUNCTYPE(ctypes.c_int)(code.symbols["answer"])() == 42
print(store.compiled, store.loaded)
"""


def test_eight_processes_at_once_on_an_empty_folder(image, tmp_path):
    (tmp_path / "image.o").write_bytes(image)
    command = [sys.executable, "-W", "error", "-c", RACE, tmp_path / "image.o", tmp_path / "c"]
    crowd = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    for process in crowd:
        assert process.stdout.readline() == "ready\n"
    for process in crowd:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in crowd:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert sum(map(int, out.split())) == 40
    assert sorted(file.name for file in (tmp_path / "c").iterdir()) == sorted(f"k{i}.o" for i in range(40))
    late = Cache(tmp_path / "c")
    for i in range(40):
        late.code(f"k{i}", never)
    assert late.loaded == 40
