import os
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from sim_node import dtypes
from sim_node.bridge import Leftover, Publisher, Subscriber, clean
from sim_node.bridge.transports import posix_shm
from sim_node.layout import Layout

STATES = Layout.of([("x", dtypes.float64, (100,), "m")])
# folder, name
PRODUCER = """
import sys
from pathlib import Path
from sim_node import dtypes
from sim_node.bridge import Publisher
from sim_node.bridge.transports import posix_shm
from sim_node.layout import Layout
posix_shm.FOLDER = Path(sys.argv[1])
publisher = Publisher(Layout.of([("x", dtypes.float64, (100,), "m")]), name=sys.argv[2])
print("ready", flush=True)
sys.stdin.read()
"""
OWNER, NAMESPACE = 24, 32  # offsets in the control block


@pytest.fixture
def killed(rings_folder):
    """Make rings whose owners are killed by -9; returns their pids."""

    def make(name, before=lambda: None):
        child = subprocess.Popen(
            [sys.executable, "-c", PRODUCER, str(rings_folder), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        with child:
            assert child.stdout.readline() == b"ready\n"
            before()
            child.send_signal(signal.SIGKILL)
        return child.pid

    return make


def names(folder):
    return sorted(path.name.split(".", 2)[2] for path in folder.iterdir())


def test_what_dead_owners_left_goes_and_what_living_ones_have_stays(rings_folder, killed):
    pids = {name: killed(name) for name in ("first", "second")}
    with Publisher(STATES, name="living") as publisher:
        assert names(rings_folder) == ["first", "living", "second"]
        told = clean(dry_run=True)
        assert names(rings_folder) == ["first", "living", "second"]
        assert clean() == told
        assert names(rings_folder) == ["living"]
        size = posix_shm.path_of("living").stat().st_size
        assert told == [
            Leftover(str(posix_shm.path_of("first")), True, f"its owner, pid {pids['first']}, is dead", size),
            Leftover(str(posix_shm.path_of("living")), False, f"its owner, pid {os.getpid()}, is alive", size),
            Leftover(str(posix_shm.path_of("second")), True, f"its owner, pid {pids['second']}, is dead", size),
        ]
        publisher.next().commit(1, 1)
        with Subscriber("living") as subscriber, subscriber.next() as tick:
            assert tick.step == 1
    assert clean() == []


def test_a_reader_of_a_dead_ring_is_named_and_keeps_what_it_has(rings_folder, killed):
    readers = []
    killed("dead", lambda: readers.append(Subscriber("dead")))
    (reader,) = readers
    (told,) = clean()
    assert (told.dead, told.readers) == (True, (os.getpid(),))
    assert names(rings_folder) == []
    with reader, Publisher(STATES, name="dead") as publisher:  # which goes on with the next ring of that name
        publisher.next().commit(5, 5)
        with reader.next(timeout=30) as tick:
            assert tick.step == 5


def test_what_cannot_be_judged_stays_and_is_named(rings_folder, killed):
    killed("elsewhere")
    container = posix_shm.path_of("elsewhere")
    with container.open("r+b") as file:
        file.seek(NAMESPACE)
        file.write(struct.pack("<Q", 12345))
    posix_shm.path_of("text").write_bytes(b"no ring" * 100)
    posix_shm.path_of("empty").touch()
    posix_shm.path_of("link").symlink_to("elsewhere")
    os.mkfifo(posix_shm.path_of("pipe"))
    posix_shm.path_of("folder").mkdir()
    (rings_folder / f"sim_node.{os.geteuid() + 1}.theirs").write_bytes(container.read_bytes())
    (rings_folder / "another program's").touch()
    there = sorted(rings_folder.iterdir())
    told = {Path(each.path).name.split(".", 2)[2]: each for each in clean()}
    assert sorted(rings_folder.iterdir()) == there
    assert not any(each.dead for each in told.values())
    reasons = {
        "elsewhere": "another pid namespace (container)",
        "text": "it is no ring",
        "empty": "it is no ring",
        "link": "cannot be opened",
        "pipe": "it is no ring",
        "folder": "cannot be opened",
        "theirs": f"it belongs to {posix_shm.user(os.geteuid())}",  # who made the file, whatever its name says
    }
    assert told.keys() == reasons.keys()
    for name, reason in reasons.items():
        assert reason in told[name].reason


def test_a_reused_pid_is_not_taken_for_the_owner(rings_folder):
    with Publisher(STATES, name="reused"):
        content = bytearray(posix_shm.path_of("reused").read_bytes())
    (owner,) = struct.unpack_from("<Q", content, OWNER)
    struct.pack_into("<Q", content, OWNER, owner + (1 << 22))  # this pid, started at another time
    posix_shm.path_of("reused").write_bytes(content)
    (told,) = clean()
    assert told.reason == f"its owner, pid {os.getpid()}, is dead"
    assert names(rings_folder) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_that_another_user_put_there_stays(rings_folder):
    path = posix_shm.path_of("given")
    path.write_bytes(b"")
    os.chown(path, 65534, -1)
    (told,) = clean()
    assert "belongs to another user" in told.reason
    assert posix_shm.user(65534) in told.reason
    assert path.exists()


def test_users_are_named():
    assert posix_shm.user(0) == "root (uid 0)"
    assert posix_shm.user(2**31 - 7) == f"uid {2**31 - 7}"
