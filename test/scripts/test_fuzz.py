"""The fuzzer agrees with itself on a few programs, and finds, shrinks and saves what it should."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parent.parent.parent / "scripts" / "fuzz.py"

# Python's -7 // 2 is -4; an oracle that forgets the sign stands for a compiler that is wrong
WRONG = """
import sys
sys.path.insert(0, {folder!r})
import ast
import fuzz
import comparison
from sim_node.compiler.python import rewrite
exact = rewrite.OPERATORS[ast.FloorDiv]
rewrite.OPERATORS[ast.FloorDiv] = lambda a, b, subject: exact(abs(a), abs(b), subject)
fuzz.program = lambda seed: {program!r}
sys.exit(fuzz.main(["--programs", "1", "--seed", "183", "--jobs", "1", *sys.argv[1:]]))
"""
PROGRAM = """
import sim_node as sn
LAYOUTS = {"x0": "strided", "x1": "indexed"}

@sn.kernel
def k(x0: sn.array3d[int], x1: sn.array[int], y0: sn.array2d[int], y1: sn.array[float], s1: int, s5: float):
    i, j = sn.tid()
    a = x0[i, j, 1] + 2
    b = float(a) * s5
    for c in range(3):
        if c == 1:
            y1[i * 3 + j] = b
        elif x1[i] < 1000:
            b += 1.0
        else:
            y0[:, j][i] += (a - x1[i]) // 7
    y0[i, j] += c
"""


def fuzz(*args: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, str(FUZZ), *args], capture_output=True, text=True, check=False)


def test_a_few_programs_of_a_fixed_seed():
    done = fuzz("--programs", "3", "--seed", "20")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("seed 20\n3 programs of ")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    done = wrong("--out", str(folder))
    assert done.returncode == 1, done.stderr
    return done.stdout, next(folder.glob("fuzz-*.py"))


def wrong(*args: str) -> subprocess.CompletedProcess:
    code = WRONG.format(folder=str(FUZZ.parent), program=PROGRAM)
    return subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=False)


def test_a_mismatch_is_shrunk_and_saved(found):
    told, path = found
    assert f"saved: scripts/fuzz.py {path}" in told
    assert "//" in path.read_text()
    assert len(path.read_text().split("def k(")[1].splitlines()) <= 4


def test_a_saved_program_runs_again(found):
    done = fuzz(str(found[1]))  # with the right oracle
    assert (done.returncode, done.stderr) == (0, "")
    assert "no mismatch" in done.stdout


def test_what_ran_is_reported_even_where_nothing_can_be_saved(tmp_path):
    (tmp_path / "taken").write_text("")
    done = wrong("--most", "2", "--out", str(tmp_path / "taken"), "--report", str(tmp_path / "report.json"))
    assert done.returncode == 1
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["programs"] == 0
    assert [(each["seed"], each["file"]) for each in report["mismatches"]] == [(183, "fuzz-183.py")]
