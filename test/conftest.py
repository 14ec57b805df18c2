"""What every test can ask for, and the check that a run leaves no shared memory behind."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from glob import iglob
from pathlib import Path

import pytest
from devices import absent
from hypothesis import settings
from simulated import Gpu

from sim_node.bridge.transports import posix_shm
from sim_node.device.names import Device, get_device

# A wall-clock limit would fail on a busy machine and say nothing about the code; CI must fail on what can be repeated.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

pytest_plugins = ["told"]

SHM = Path("/dev/shm")
DOMAINS = range(1, 101)
GRACE_S = 2.0
_segments_before = pytest.StashKey[set[str]]()
_segments_left = pytest.StashKey[list[str]]()


@pytest.fixture
def ros_domain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[int]:
    """A ROS_DOMAIN_ID that no other test of this user holds, in any worker or run; discovery on this host only."""
    folder = Path(tempfile.gettempdir(), f"sim_node-domains-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    # starting where other processes do not, so that a domain just left has time to fall silent
    start = int.from_bytes(os.urandom(2), "little")
    for step in DOMAINS:
        domain = DOMAINS[(start + step) % len(DOMAINS)]
        with (folder / str(domain)).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            _sweep()
            monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
            monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
            monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "ros_log"))
            yield domain
            return
    pytest.fail(f"all {len(DOMAINS)} ROS domains are held by running tests: see the locks in {folder}")


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder that SIM_NODE_CACHE points at."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("SIM_NODE_CACHE", str(folder))
    return folder


def pytest_configure() -> None:
    """Take Ctrl-C again where a shell started this run in the background: tests interrupt processes that inherit it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Gpu]]:
    """Make a simulated GPU, as ``Gpu``; it is in place of those of the machine, and left out where there are some."""
    if not absent():
        pytest.skip("a GPU is here, so none need be simulated")
    made: list[Gpu] = []
    yield lambda **options: made.append(Gpu(monkeypatch, **options)) or made[-1]
    for gpu in made:
        gpu.end()


@pytest.fixture
def device(request: pytest.FixtureRequest) -> Device:
    """The device of that name; ``simulated`` is a GPU whose driver is (simulated.py)."""
    if request.param != "simulated":
        return get_device(request.param)
    made: Device = request.getfixturevalue("simulate")().device
    return made


def pytest_collection_finish() -> None:
    """Keep the collected tests out of collections of garbage: whoever asks for one would wait for a million objects."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a GPU where there is none."""
    if item.get_closest_marker("gpu") and (why := absent()):
        pytest.skip(why)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Note which segments there are, in the process that outlives the workers."""
    if not hasattr(session.config, "workerinput"):
        session.config.stash[_segments_before] = _segments()


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Fail the run that left a segment in /dev/shm."""
    before = session.config.stash.get(_segments_before, None)
    if before is not None:
        left = _left_since(before)
        session.config.stash[_segments_left] = left
        if left and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        _sweep()
    yield


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name what was left."""
    for name in config.stash.get(_segments_left, []):
        terminalreporter.write_line(f"FAILED: this run left {SHM / name}", red=True)


def _left_since(before: set[str]) -> list[str]:
    """Return the new segments that stay. Those of a run beside this one come and go, which cannot be told at once."""
    deadline = time.monotonic() + GRACE_S
    while True:
        left = sorted(name for name in _segments() - before if not _mapped_by_a_stranger(SHM / name))
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.1)


def _segments() -> set[str]:
    return {path.name for path in SHM.glob(f"sim_node.{os.getuid()}.*")}


def _sweep() -> None:
    """Remove what Fast DDS left of killed processes: it is named by a domain's ports, so the next meets it.

    Its locks are open and never mapped, and without one the memory of a living process counts as left: another worker's
    nodes would hear nothing more. What is open is looked for before what is mapped, since a file is opened first.
    """
    left: set[str] = set()
    for path in SHM.glob("*fast*"):
        with contextlib.suppress(OSError):  # its owner removed it
            left |= {str(path)} if path.stat().st_uid == os.getuid() else set()
    if left:
        left -= set(_open())
        left -= {line.split(maxsplit=5)[-1] for _, maps in _mapped() for line in maps.splitlines() if str(SHM) in line}
    for name in left:
        Path(name).unlink(missing_ok=True)


def _mapped_by_a_stranger(segment: Path) -> bool:
    """Return whether a live process that is no descendant of this one maps the segment: another run's, not ours."""
    return any(str(segment) in maps and os.getpid() not in _ancestors(pid) for pid, maps in _mapped())


def _open() -> Iterator[str]:
    """What each process has open."""
    for descriptor in iglob("/proc/[0-9]*/fd/*"):
        with contextlib.suppress(OSError):  # it was closed meanwhile
            yield os.readlink(descriptor)


def _mapped() -> Iterator[tuple[int, str]]:
    """What each process maps, by its number."""
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            yield int(maps.parent.name), maps.read_text()
        except OSError:  # it ended meanwhile, or belongs to another user
            continue


def _ancestors(pid: int) -> Iterator[int]:
    while pid > 1:
        yield pid
        try:
            # proc(5): the fourth field, counted after the command in parentheses, which may hold anything
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return


@pytest.fixture
def rings_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of shared memory for this test alone: cleaning must not meet what other tests leave on purpose."""
    made = Path(f"/dev/shm/rings_{os.getpid()}")
    made.mkdir()
    monkeypatch.setattr(posix_shm, "FOLDER", made)
    yield made
    shutil.rmtree(made)
