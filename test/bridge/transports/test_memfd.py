import errno
import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from sim_node import dtypes
from sim_node.bridge import Publisher, Subscriber, rings
from sim_node.bridge.handover import Handover
from sim_node.bridge.transports import memfd, posix_shm
from sim_node.errors import RingError
from sim_node.layout import Layout

STATES = Layout.of([("x", dtypes.float64, (10,), "m")])
FORCE = Layout.of([("force", dtypes.float64, (3,), "N")])


def publisher_of(name, inputs=None, **rest):
    return Publisher(STATES, inputs, name, transport="memfd", **rest)


def mappings(word):
    with open("/proc/self/maps") as maps:
        return sum(word in line for line in maps)


def test_it_lies_in_no_folder_and_goes_with_its_last_process(name):
    publisher = publisher_of(name)
    assert publisher.transport == "memfd"
    assert not [path for path in posix_shm.FOLDER.iterdir() if name in path.name]
    subscriber = Subscriber(name)
    assert (subscriber.transport, str(subscriber.ways["x"]).split()[0]) == ("memfd", "memfd")
    (info,) = [info for info in rings() if info.name == name]
    assert (info.transport, info.owner_pid, info.alive, len(info.readers)) == ("memfd", os.getpid(), True, 1)
    publisher.close()
    with pytest.raises(RingError, match="closed it"):
        subscriber.next(timeout=0)
    with pytest.raises(RingError, match="there is no ring"):
        Subscriber(name, timeout=0)
    subscriber.close()
    del publisher, subscriber
    assert mappings(name) == 0


def test_its_size_is_sealed_for_everybody(name):
    with publisher_of(name) as publisher:
        seals, files = memfd.SEALS, []
        with memfd.asked(memfd._handle(name, None)) as answer:
            (file,) = answer.files
            for size in (0, 1 << 20):
                with pytest.raises(PermissionError):
                    os.ftruncate(file, size)
            with pytest.raises(PermissionError):
                fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
            assert fcntl.fcntl(file, fcntl.F_GET_SEALS) == seals
            assert os.fstat(file).st_blocks * 512 >= len(publisher.segment.memory)
            files += answer.files
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(files[0])


@pytest.mark.parametrize("transport", ["memfd", "posix_shm"])
def test_a_name_is_one_rings_whatever_its_transport(name, transport):
    other = "posix_shm" if transport == "memfd" else "memfd"
    with Publisher(STATES, name=name, transport=transport):
        for again in (transport, other):
            with pytest.raises(RingError, match=rf"belongs to a running process \(pid {os.getpid()}\)"):
                Publisher(STATES, name=name, transport=again)


CROSSING = """
import os, sys
from sim_node import dtypes
from sim_node.bridge import Publisher
from sim_node.layout import Layout
publisher = Publisher(Layout.of([("x", dtypes.float64, (10,), "m")]), name=sys.argv[1], transport=sys.argv[2])
slot = publisher.next()
slot["x"][:] = int(sys.argv[3])
slot.commit(int(sys.argv[3]), 0)
print("ready", flush=True)
sys.stdin.read()
"""


def test_readers_follow_killed_producers_from_one_transport_to_another(name):
    generations, subscriber = [], None
    for life, transport in enumerate(["memfd", "memfd", "posix_shm", "memfd"], 1):
        command = [sys.executable, "-c", CROSSING, name, transport, str(life)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as producer:
            assert producer.stdout.readline() == "ready\n"
            subscriber = subscriber or Subscriber(name)
            with subscriber.next(timeout=60) as tick:
                assert tick["x"].tolist() == [life] * 10
            assert subscriber.transport == transport
            generations.append(subscriber.generation)
            producer.kill()
            producer.stdin.close()
            assert producer.wait(60) == -signal.SIGKILL
    assert generations == sorted(set(generations))
    subscriber.close()
    assert not [path for path in posix_shm.FOLDER.iterdir() if name in path.name]


MEMBER = """
import os, sys
import numpy as np
from sim_node.bridge import Subscriber
name, group = sys.argv[1], int(sys.argv[2])
os.setgroups([group])
os.setgid(65534)
os.setuid(65534)
with Subscriber(name, 0.5, "member") as plant, plant.next(timeout=30) as tick:
    plant.send("force", np.full(3, tick.step))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_another_user_of_the_group_reads_and_sends(name):
    with publisher_of(name, FORCE, group="54321") as publisher:
        publisher.next().commit(7, 7)
        command = [sys.executable, "-c", MEMBER, name]
        subprocess.run([*command, "54321"], check=True)
        assert publisher.take("force").tolist() == [7, 7, 7]
        stranger = subprocess.run([*command, "54322"], capture_output=True, text=True, check=False)
        assert f"there is no ring '{name}' of this user" in stranger.stderr
        (info,) = [info for info in rings() if info.name == name]
        assert "is another user's or group's" in info.problem


def test_a_group_that_is_not_ones_own_is_refused(name, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    with pytest.raises(RingError, match=r"cannot be for group 54321: uid 4242 is no member of it"):
        publisher_of(name, group="54321")


def test_a_name_that_no_socket_has_room_for_is_refused_and_never_found():
    long = "n" * 120
    with pytest.raises(RingError, match=r"has 120 characters, at most \d+ fit; choose a shorter one, or the transport"):
        publisher_of(long)
    with pytest.raises(RingError, match="there is no ring"):
        Subscriber(long, timeout=0)


def test_memory_that_is_not_there_is_told(name, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(RingError, match=r"cannot have \d+ bytes of memory: No space left on device"):
        publisher_of(name)


def test_a_name_that_becomes_free_meanwhile_is_told(name, monkeypatch):
    with publisher_of(name):
        monkeypatch.setattr(memfd, "require_free", lambda *_: None)
        with pytest.raises(RingError, match="belonged to a process that has just ended: try again"):
            publisher_of(name)


@contextmanager
def answering(name, file, said=None):
    """Answer one reader in place of a producer: with a descriptor, a refusal, or nothing."""
    if file is not None:
        handover = Handover(file, memfd._handle(name, None))
        handover.begin(1, None)
        yield
        handover.end()
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(b"\0sim_node." + memfd._handle(name, None))
        listening.listen()

        def answer():
            peer, _ = listening.accept()
            with peer:
                if said:
                    peer.send(said)

        thread = threading.Thread(target=answer)
        thread.start()
        yield
        thread.join()


def sealed(size, seals=memfd.SEALS):
    file = os.memfd_create("test", os.MFD_ALLOW_SEALING)
    os.ftruncate(file, size)
    fcntl.fcntl(file, fcntl.F_ADD_SEALS, seals)
    return file


@pytest.mark.parametrize(
    ("make", "said", "why"),
    [
        (lambda: sealed(1 << 16), None, "cannot be read: it does not start with the magic word"),
        (lambda: sealed(64), None, "cannot be read: it is shorter than a control block"),
        (lambda: sealed(0), None, "cannot be read: cannot mmap an empty file"),
        (lambda: sealed(1 << 16, fcntl.F_SEAL_GROW), None, "is not sealed, so it could become shorter"),
        (lambda: os.open("/etc/hostname", os.O_RDONLY), None, "is not handed out by its producer: .*Invalid argument"),
        (None, b"the memory is for ada", "is not for this process: the memory is for ada"),
        (None, None, "there is no ring"),
    ],
    ids=["zeros", "short", "empty", "unsealed", "a file", "refused", "nothing"],
)
def test_what_no_ring_hands_out_is_refused(name, make, said, why):
    file = make() if make else None
    with answering(name, file, said), pytest.raises(RingError, match=why):
        Subscriber(name, timeout=0)
    if file is not None:
        os.close(file)


def test_a_ring_is_handed_out_by_its_owner_alone(name):
    ready = CROSSING.replace('print("ready"', 'print(list(publisher.segment.handover._file for _ in "1")[0]')
    command = [sys.executable, "-c", ready, f"{name}_theirs", "memfd", "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        file = os.open(f"/proc/{owner.pid}/fd/{owner.stdout.readline().strip()}", os.O_RDWR)
        said = rf"is of pid {owner.pid}, and pid {os.getpid()} hands it out"
        with answering(name, file), pytest.raises(RingError, match=said):
            Subscriber(name, timeout=0)
        os.close(file)
        owner.stdin.close()
        assert owner.wait(60) == 0


def test_somebody_elses_socket_is_not_believed(name, monkeypatch):
    with publisher_of(name):
        mine = os.geteuid()
        handle = memfd._handle(name, None)
        monkeypatch.setattr(memfd, "_handle", lambda *_: handle)
        monkeypatch.setattr(os, "geteuid", lambda: mine + 4242)
        with pytest.raises(RingError, match=rf"is said to be at pid {os.getpid()}, which is of"):
            memfd.attach(name)
        with pytest.raises(RingError, match=r"belongs to a running process \(pid \d+ of .*uid"):
            memfd.require_free(name)


def test_ticks_are_the_same_memory(name):
    with publisher_of(name) as publisher, Subscriber(name) as subscriber:
        slot = publisher.next()
        slot["x"][:] = np.arange(10)
        slot.commit(1, 1)
        with subscriber.next() as tick:
            slot["x"][3] = 77
            assert tick["x"][3] == 77
