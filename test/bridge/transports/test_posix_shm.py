import grp
import os
import re
import stat
import struct
import subprocess
import sys
from types import SimpleNamespace

import pytest

from sim_node import dtypes
from sim_node._native import Ring
from sim_node.bridge import Publisher, Subscriber, rings
from sim_node.bridge.transports import posix_shm
from sim_node.errors import RingError
from sim_node.layout import Layout

STATES = Layout.of([("x", dtypes.float64, (100,), "m")])
GENERATION = struct.Struct("<QIIQ")  # magic, version, size of the control block, generation


def left_behind(name, generation=41):
    """A segment whose owner is gone: a copy of a real one with another start time."""
    with Publisher(STATES, name=name):
        content = bytearray(posix_shm.path_of(name).read_bytes())
    magic, version, size, _ = GENERATION.unpack_from(content)
    GENERATION.pack_into(content, 0, magic, version, size, generation)
    (owner,) = struct.unpack_from("<Q", content, GENERATION.size)
    struct.pack_into("<Q", content, GENERATION.size, owner + (1 << 22))
    return content


def write(name, content):
    path = posix_shm.path_of(name)
    path.write_bytes(content)
    return path


def test_the_file_is_private_and_goes_with_its_owner(name):
    with Publisher(STATES, name=name) as publisher:
        found = posix_shm.path_of(name).stat()
        assert stat.S_IMODE(found.st_mode) == 0o600
        assert found.st_blocks * 512 >= found.st_size  # all there: no SIGBUS later
        assert posix_shm.path_of(name).name == f"sim_node.{os.geteuid()}.{name}"
        assert publisher.ring.owner_pid == os.getpid()
    assert not posix_shm.path_of(name).exists()


def test_the_name_of_a_living_owner_is_refused(name):
    with Publisher(STATES, name=name) as publisher:
        with pytest.raises(RingError, match=rf"belongs to a running process \(pid {os.getpid()}\)"):
            Publisher(STATES, name=f"/{name}")
        publisher.next().commit(1, 1)
        with Subscriber(name) as subscriber, subscriber.next() as tick:
            assert tick.step == 1


def test_the_segment_of_a_dead_owner_is_replaced(name):
    write(name, left_behind(name))
    with pytest.raises(RingError, match=rf"\(pid {os.getpid()}\) is dead; waited 0.02 s"):
        Subscriber(name, timeout=0.02)
    with Publisher(STATES, name=name) as publisher, Subscriber(name) as subscriber:
        assert publisher.generation == subscriber.generation == 42


def test_what_is_no_ring_is_replaced_with_a_fresh_count(name):
    for content in (b"", b"x" * 5000):
        write(name, content)
        with Publisher(STATES, name=name) as publisher:
            assert publisher.generation > 1_700_000_000_000_000


def test_an_owner_in_another_pid_namespace_is_not_judged(name):
    content = left_behind(name)
    struct.pack_into("<Q", content, GENERATION.size + 8, 12345)
    path = write(name, content)
    with pytest.raises(RingError, match="another pid namespace"):
        Publisher(STATES, name=name)
    with pytest.raises(RingError, match="another pid namespace"):
        Subscriber(name)
    path.unlink()


@pytest.mark.parametrize(
    ("at", "value", "why"),
    [
        (0, b"not_ring", "magic word"),
        (8, struct.pack("<I", 99), "another version"),
        (80, struct.pack("<Q", 5), "do not lie where"),
        (88, struct.pack("<Q", 2**60), "below 2\\^48"),
        (48, b"\xff" * 8, "does not match its digest"),
    ],
)
def test_a_damaged_segment_is_refused_and_listed(name, at, value, why):
    with Publisher(STATES, name=name):
        with open(posix_shm.path_of(name), "r+b") as file:
            file.seek(at)
            file.write(value)
        with pytest.raises(RingError, match=f"cannot be read: .*{why}"):
            Subscriber(name)
        (info,) = [info for info in rings() if info.name == name]
        assert info.owner_pid is None or at == 48  # the digest is looked at by who reads the layout


def test_a_truncated_segment_is_refused(name):
    content = left_behind(name)
    for length in (0, 100, 5000, len(content) - 1):
        path = write(name, content[:length])
        with pytest.raises(RingError, match="cannot be read"):
            Subscriber(name)
        path.unlink()


def test_another_users_segment_is_never_touched(name, monkeypatch):
    somebody = os.geteuid() + 4242
    monkeypatch.setattr(os, "geteuid", lambda: somebody)
    path = write(name, b"somebody's")
    for start in (lambda: Publisher(STATES, name=name), lambda: Subscriber(name)):
        with pytest.raises(
            RingError, match=rf"belongs to another user: .* is of {re.escape(posix_shm.user(os.getuid()))}"
        ):
            start()
    assert path.read_bytes() == b"somebody's"
    path.unlink()


def test_a_ring_may_be_a_groups(name):
    group = os.getegid()
    path = posix_shm.path_of(name, group)
    write(name, left_behind(name))  # of this user, from before: a reader would find that first
    with Publisher(STATES, name=name, group=str(group)) as publisher:
        assert path.name == f"sim_node.g{group}.{name}"
        assert (stat.S_IMODE(path.stat().st_mode), path.stat().st_gid) == (0o660, group)
        assert not posix_shm.path_of(name).exists()
        publisher.next().commit(3, 3)
        with Subscriber(name) as subscriber, subscriber.next() as tick:
            assert tick.step == 3
        (info,) = [info for info in rings() if info.name == name]
        assert (info.owner_pid, info.alive) == (os.getpid(), True)
        with pytest.raises(RingError, match="belongs to a running process"):
            Publisher(STATES, name=name, group=grp.getgrgid(group).gr_name)
    assert not path.exists()


def test_a_group_that_is_not_there_or_not_ones_own_is_refused(name, monkeypatch):
    with pytest.raises(RingError, match="there is no group 'nobodies' on this machine"):
        Publisher(STATES, name=name, group="nobodies")

    def refused(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refused)
    with pytest.raises(RingError, match=r"cannot be for group 54321: .*; is .* \(uid \d+\) a member of it"):
        Publisher(STATES, name=name, group="54321")


def test_a_file_of_another_group_is_not_opened(name):
    mine, other = os.getegid(), os.getegid() + 4242
    path = posix_shm.path_of(name, other)
    path.write_bytes(left_behind(name))
    try:
        assert path.stat().st_gid == mine
        with pytest.raises(RingError, match="belongs to another user"):
            posix_shm.attach(path, name)
        (info,) = [info for info in rings() if info.name == name]
        assert "another user's or group's" in info.problem
    finally:
        path.unlink()


def test_what_another_user_of_the_group_left_can_only_be_named(name, monkeypatch):
    path = posix_shm.path_of(name, os.getegid())
    path.write_bytes(left_behind(name))

    def refused(*_):
        raise PermissionError(1, "Operation not permitted")

    with monkeypatch.context() as sticky:
        sticky.setattr(type(path), "unlink", refused)
        with pytest.raises(RingError, match=r"was left by a dead process of .* \(uid \d+\), who alone may remove"):
            Publisher(STATES, name=name, group=str(os.getegid()))
    path.unlink()


MEMBER = """
import os, sys
import numpy as np
from sim_node.bridge import Subscriber
from sim_node.bridge.inventory import rings
name, group = sys.argv[1], int(sys.argv[2])
os.setgroups([group])
os.setgid(65534)
os.setuid(65534)
with Subscriber(name, 0.5, "member") as plant, plant.next(timeout=30) as tick:
    plant.send("force", np.full(3, tick.step))
    print([info.alive for info in rings() if info.name == name])
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_another_user_of_the_group_reads_and_sends(name):
    inputs = Layout.of([("force", dtypes.float64, (3,), "N")])
    with Publisher(STATES, inputs, name, group="54321") as publisher:
        publisher.next().commit(7, 7)
        command = [sys.executable, "-c", MEMBER, name]
        member = subprocess.run([*command, "54321"], capture_output=True, text=True, check=True)
        assert member.stdout == "[True]\n"
        assert publisher.take("force").tolist() == [7, 7, 7]
        stranger = subprocess.run([*command, "54322"], capture_output=True, text=True, check=False)
        assert f"there is no ring '{name}' of this user" in stranger.stderr


def test_a_link_is_not_followed(name, tmp_path):
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    path = posix_shm.path_of(name)
    path.symlink_to(target)
    with pytest.raises(RingError, match="cannot be opened"):
        Publisher(STATES, name=name)
    assert target.read_bytes() == b"precious"
    path.unlink()


def test_a_full_memory_file_system_is_noticed_before_it_faults(name, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_bavail=1, f_frsize=4096))
        with pytest.raises(RingError, match=r"needs \d+ bytes and /dev/shm has 4096 bytes free: .*--shm-size"):
            Publisher(STATES, name=name)

    def full(*place):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(RingError, match=r"needs \d+ bytes, which /dev/shm does not give: No space left"):
        Publisher(STATES, name=name)


def test_the_owner_is_told_in_any_version(name):
    content = left_behind(name)
    struct.pack_into("<I", content, 8, 99)
    assert Ring.owner_of(bytes(content)) == (41, os.getpid(), False)
    assert Ring.owner_of(b"short") is None
    write(name, content)
    with Publisher(STATES, name=name) as publisher:
        assert publisher.generation == 42


@pytest.mark.parametrize("version", [0, 99], ids=["older", "newer"])
def test_a_segment_of_another_version_is_left_as_it_is(name, version):
    content = left_behind(name)
    struct.pack_into("<I", content, 8, version)
    path = write(name, content)
    with pytest.raises(RingError, match="another version of the protocol"):
        Subscriber(name)
    assert path.read_bytes() == content
    path.unlink()


def test_a_folder_that_takes_no_files_is_told(name, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(posix_shm.os, "open", refuse)
    with pytest.raises(RingError, match="cannot be made in /dev/shm: Permission denied"):
        Publisher(STATES, name=name)
