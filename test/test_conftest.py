"""The fixtures and the check of shared memory in conftest.py, on small suites of their own."""

from __future__ import annotations

import mmap
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).resolve().with_name("conftest.py")


def copied(folder: Path) -> None:
    """Lay our conftest.py into a folder, and what it loads."""
    for name in ("conftest.py", "devices.py", "simulated.py", "simulated_memory.py", "told.py"):
        shutil.copy2(CONFTEST.with_name(name), folder / name)


def run(folder: Path, suite: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest on the suite, with our conftest.py beside it."""
    copied(folder)
    (folder / "test_suite.py").write_text(suite)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "test_suite.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["alone", "workers"])
def test_a_segment_left_fails_the_run(tmp_path: Path, options: tuple[str, ...]) -> None:
    segment = Path(f"/dev/shm/sim_node.{os.getuid()}.test.conftest.{os.getpid()}")
    suite = f"def test_leaves():\n    open({str(segment)!r}, 'w').close()\n"
    try:
        done = run(tmp_path, suite, *options)
    finally:
        segment.unlink()
    assert "1 passed" in done.stdout
    assert f"this run left {segment}" in done.stdout
    assert done.returncode == pytest.ExitCode.TESTS_FAILED


def test_a_strangers_segment_is_no_fault_of_the_run(tmp_path: Path) -> None:
    """One that a live process outside the run maps: here, this test's own."""
    segment = Path(f"/dev/shm/sim_node.{os.getuid()}.test.stranger.{os.getpid()}")
    copied(tmp_path)
    (tmp_path / "test_suite.py").write_text("def test_waits():\n    print('begun', flush=True)\n    input()\n")
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "test_suite.py"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "begun" in line:
                break
        with segment.open("w+b") as file:
            file.truncate(4096)
            try:
                with mmap.mmap(file.fileno(), 4096):
                    output, _ = process.communicate("\n", timeout=60)
            finally:
                segment.unlink()
    assert process.returncode == 0, output


def test_each_test_has_its_own_domain(ros_domain: int, tmp_path: Path) -> None:
    suite = f"def test_domain(ros_domain):\n    assert ros_domain != {ros_domain} and 1 <= ros_domain <= 100\n"
    done = run(tmp_path, suite + suite.replace("test_domain", "test_another"))
    assert done.returncode == 0, done.stdout
    assert os.environ["ROS_DOMAIN_ID"] == str(ros_domain)
    assert os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"


def test_cache_is_empty_and_named(cache: Path) -> None:
    assert not cache.exists()
    assert os.environ["SIM_NODE_CACHE"] == str(cache)


@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["alone", "workers"])
def test_a_run_in_the_background_can_interrupt_its_processes(tmp_path: Path, options: tuple[str, ...]) -> None:
    """A shell without job control ignores Ctrl-C for what it starts with ``&``, and that is inherited."""
    suite = (
        "import os, signal, subprocess, sys\n"
        "def test_interrupts():\n"
        "    code = 'import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)'\n"
        "    assert subprocess.check_output([sys.executable, '-c', code], text=True).strip() == 'True'\n"
    )
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        done = run(tmp_path, suite, *options)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.returncode == 0, done.stdout


def test_what_no_living_process_has_of_the_middleware_is_removed(tmp_path: Path) -> None:
    """Its locks are open and never mapped, its memory is mapped, and open no more."""
    locked, mapped, left = (Path(f"/dev/shm/fastdds_test_{os.getpid()}_{word}") for word in ("el", "memory", "left"))
    with locked.open("w"), mapped.open("w+b") as file:
        file.truncate(4096)
        left.touch()
        with mmap.mmap(file.fileno(), 4096):
            file.close()
            assert run(tmp_path, "def test_nothing():\n    pass\n").returncode == 0
            assert (locked.exists(), mapped.exists(), left.exists()) == (True, True, False)
    locked.unlink()
    mapped.unlink()
