"""What told.py takes for the places of messages, and for a whole run."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest
import told

import sim_node as sn
from sim_node.compiler.frontend import lower
from sim_node.errors import BuildError


def test_places_are_those_of_the_package():
    files = {line.partition(":")[0] for line, _ in told.places()}
    assert {"lang/kernel.py", "compiler/frontend/agree.py", "runtime/refusal.py", "device/names.py"} <= files
    assert told.ELSEWHERE.keys() <= {function for _, function in told.places()}


@sn.kernel
def mixed(x: sn.array(dtype=float), n: int):
    x[0] = x[0] + n


def test_a_mistake_is_noted_at_its_place(request):
    seen = request.config.stash[told._seen]
    before = set(seen)
    seen.clear()
    with pytest.raises(BuildError):
        lower(mixed)
    (where,) = seen
    seen |= before
    assert where.startswith("compiler/frontend/agree.py:")
    assert where not in told.untold(seen)
    assert where in told.untold(set())


def test_outside_of_the_package_there_is_no_place():
    assert told.place(sys._getframe()) == ""


SUITE = """
import sim_node as sn

def test_one():
    try:
        sn.get_device("x")
    except ValueError:
        pass
"""


@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["alone", "workers"])
def test_a_message_without_a_test_fails_a_whole_run(tmp_path, options):
    (tmp_path / "checks").mkdir()
    shutil.copy2(told.__file__, tmp_path / "told.py")
    (tmp_path / "conftest.py").write_text("pytest_plugins = ['told']\n")
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\ntestpaths = ['checks']\npythonpath = ['.']\n")
    (tmp_path / "checks" / "test_one.py").write_text(SUITE)

    def run(*chosen):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *chosen]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)

    done = run()
    untold = [line for line in done.stdout.splitlines() if line.startswith("FAILED: no test makes the mistake told in")]
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert "1 passed" in done.stdout
    assert any("compiler/frontend/agree.py" in line for line in untold)
    assert sum("device/names.py" in line for line in untold) == 1  # the other of its two
    assert run("checks").returncode == run("-k", "one").returncode == pytest.ExitCode.OK
