"""The runner of Warp's tests: what it counts, on files of our own, and on Warp's where warp-lang is installed."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).with_name("warp_suite.py")
SPEC = importlib.util.spec_from_file_location("warp_suite", RUNNER)
warp_suite = importlib.util.module_from_spec(SPEC)
sys.modules["warp_suite"] = warp_suite
SPEC.loader.exec_module(warp_suite)

CASES = """
import os, signal, time, unittest
import warp as wp
from warp._src import codegen
from warp.tests.unittest_utils import *

class TestAll(unittest.TestCase):
    def test_a_passes(self):
        self.assertEqual(wp.__name__, "sim_node")
    def test_b_fails(self):
        self.assertEqual(1, 2)
    def test_c_crashes(self):
        os.kill(os.getpid(), signal.SIGSEGV)
    def test_d_after_the_crash(self):
        pass
    def test_e_differentiates(self):
        with wp.Tape() as tape:
            pass
        tape.backward()
    def test_f_fails_before_it_differentiates(self):
        tape = wp.Tape()
        self.fail("first")
        tape.backward()
    def test_g_is_private(self):
        codegen.Adjoint()
    def test_m_differentiates_in_a_kernel(self):
        @wp.kernel
        def k(x: wp.array[float]):
            x[0] = wp.grad(x)

        wp.launch(k, 1, inputs=[wp.zeros(1)])
    def test_h_hangs(self):
        time.sleep(60)
    def test_i_fails_in_parts(self):
        for i in range(2):
            with self.subTest(i=i):
                self.assertEqual(i, 0)

def printing(test, device, text=""):
    print(text, end="")

add_function_test(TestAll, "test_j_prints", printing, devices=get_test_devices(), text="printed")
add_function_test(TestAll, "test_k_is_quiet", printing, devices=get_test_devices())
add_function_test(TestAll, "test_l_on_a_gpu", printing, devices=get_cuda_test_devices())
"""


def command(*arguments, before="pass"):
    run = f"runpy.run_path({str(RUNNER)!r}, run_name='__main__')"
    code = f"{before}; import runpy, sys; sys.argv[1:] = {list(arguments)!r}; {run}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_each_outcome_is_counted_and_named(tmp_path):
    (tmp_path / "test_own.py").write_text(CASES)
    file = warp_suite.run(warp_suite.File("warp.tests.test_own"), tmp_path, limit=5.0)
    found = {case.removeprefix("TestAll.test_")[0]: told for case, told in file.outcomes.items()}
    assert {case: told["outcome"] for case, told in found.items()} == {
        **dict.fromkeys("adk", "passed"),
        **dict.fromkeys("bcfhij", "failed"),
        **dict.fromkeys("eglm", "unsupported"),
    }
    assert "SIGSEGV" in found["c"]["error"]
    assert "5 s" in found["h"]["error"]
    assert "printed" in found["j"]["error"]
    assert [found[case]["reason"] for case in "egm"] == ["gradients", "Warp's private modules", "gradients"]
    assert file.counts() == {"passed": 3, "failed": 6, "unsupported": 4}


def test_a_file_that_does_not_load_is_one_failure(tmp_path):
    (tmp_path / "test_own.py").write_text("import warp.nothing_there")
    file = warp_suite.run(warp_suite.File("warp.tests.test_own"), tmp_path)
    assert file.counts() == {"passed": 0, "failed": 1, "unsupported": 0}
    assert "warp.nothing_there" in file.outcomes["import"]["error"]


def test_without_warp_it_says_what_to_do():
    ran = command("--json", before="import sys; sys.modules['warp'] = None")
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert "make setup BENCH=1" in ran.stderr


def test_a_misspelt_file_is_refused():
    if importlib.util.find_spec("warp") is None:
        pytest.skip("warp-lang is not installed")
    ran = command("--file", "test_vecs.py")
    assert ran.returncode == 2
    assert "test_vecs" in ran.stderr


def test_warps_own_files():
    if importlib.util.find_spec("warp") is None:
        pytest.skip("warp-lang is not installed")
    ran = command("--json", "--file", "test_lerp.py")
    found = json.loads(ran.stdout)
    assert ran.returncode == 1, "too few cases in one file"
    assert list(found["total"]) == ["passed", "failed", "unsupported"]
    assert list(found["files"]) == ["test_lerp.py"]
