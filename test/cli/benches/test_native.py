"""A bench's programs are compiled with the system's compiler, or it is told why not."""

import subprocess

import pytest

from sim_node.cli.benches.native import compiled


@pytest.mark.parametrize("source", ["bridge_reader.c", "bridge_controller.cpp"])
def test_a_program_of_the_bench_says_how_it_is_called(source, tmp_path):
    done = subprocess.run([compiled(source, tmp_path)], capture_output=True, text=True)
    assert done.returncode == 1
    assert "NAME" in done.stderr


def test_a_missing_compiler_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("CXX", "no-such-compiler -O3")
    with pytest.raises(FileNotFoundError, match="there is no compiler 'no-such-compiler'; CXX names another"):
        compiled("bridge_controller.cpp", tmp_path)


def test_what_the_compiler_said_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "cc --no-such-option")
    with pytest.raises(RuntimeError, match=r"cc did not compile bridge_reader\.c: .*no-such-option"):
        compiled("bridge_reader.c", tmp_path)
