"""The descriptor of a ring's memory goes to readers of that generation, user and group, and comes from its producer."""

import contextlib
import os
import socket
import subprocess
import sys
from dataclasses import replace

import pytest

from sim_node.bridge import handover
from sim_node.bridge.handover import Handover, holder, received
from sim_node.bridge.offer import Offer
from sim_node.errors import RingError
from sim_node.layout import Layout

GENERATION = 2**63 + 5


@pytest.fixture
def file(tmp_path):
    with (tmp_path / "memory").open("w+") as opened:
        opened.write("the memory")
        opened.flush()
        yield opened.fileno()


@pytest.fixture
def handing(file):
    made = Handover(file)
    made.begin(GENERATION, None)
    yield made
    made.end()


def offered(handing):
    return Offer(
        "vmm", "", GENERATION, os.getpid(), 0, os.geteuid(), 0, 0, "", "A GPU", "", Layout((), 0), 256, 0, 256,
        handing.handle, (),
    )  # fmt: skip


def descriptors(file):
    """List this process's descriptors of the same file, but for those that other threads close meanwhile."""
    found, same = [], os.fstat(file)
    for number in map(int, os.listdir("/proc/self/fd")):
        with contextlib.suppress(OSError):
            found += [number] if os.path.samestat(os.fstat(number), same) else []
    return found


def test_each_reader_gets_a_descriptor_of_its_own(handing, file):
    with received(offered(handing)) as first, received(offered(handing)) as second:
        assert len({file, first, second}) == 3
        assert os.pread(first, 100, 0) == os.pread(second, 100, 0) == b"the memory"
        assert not os.get_inheritable(first)
        assert len(descriptors(file)) == 4  # that of the handover among them
    assert len(descriptors(file)) == 2
    handing.end()
    assert descriptors(file) == [file]


def test_a_reader_that_comes_early_waits(file):
    handing = Handover(file)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as early:
        early.connect(b"\0sim_node." + handing.handle)
        handing.begin(GENERATION, None)
        said, files, *_ = socket.recv_fds(early, 100, 1)
    assert said == GENERATION.to_bytes(8, "little")
    assert os.pread(files[0], 100, 0) == b"the memory"
    os.close(files[0])
    handing.end()


def test_memory_of_another_generation_is_refused(handing, file):
    other = replace(offered(handing), generation=3)
    with pytest.raises(RingError, match="is of another generation of the ring than 3"), received(other):
        pass
    assert len(descriptors(file)) == 2


def test_a_name_has_one_holder_and_is_free_at_its_end_also_in_forked_children(file):
    name = f"test_{os.getpid()}".encode()
    first = Handover(file, name)
    assert holder(name) == (os.getpid(), os.geteuid())
    with pytest.raises(OSError, match="Address already in use"):
        Handover(file, name)
    parent, child = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        parent.close()
        child.send(b"forked")
        child.recv(1)  # it holds what it inherited until then
        os._exit(0)
    child.close()
    assert parent.recv(10) == b"forked"
    first.end()
    with pytest.raises(ConnectionRefusedError):
        holder(name)
    Handover(file, name).end()
    parent.close()
    assert os.waitpid(pid, 0)[1] == 0


def test_readers_that_leave_or_say_nothing_hold_nobody_up(handing):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as silent:
        silent.connect(b"\0sim_node." + handing.handle)
        for _ in range(100):
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as leaving:
                leaving.connect(b"\0sim_node." + handing.handle)
        with received(offered(handing)) as file:
            assert os.pread(file, 100, 0) == b"the memory"


def test_nobody_else_answers_in_place_of_the_producer(handing):
    other = replace(offered(handing), pid=1, uid=12345)
    said = rf"pid {os.getpid()} of .* answers in place of the producer, pid 1 of uid 12345"
    with pytest.raises(RingError, match=said), received(other):
        pass


def test_a_producer_that_ended_or_hangs_is_told(handing, file, monkeypatch):
    offer = offered(handing)
    handing.end()
    said = r"does not hand its memory out: .*refused; if it has ended, start it again"
    with pytest.raises(RingError, match=said), received(offer):
        pass
    monkeypatch.setattr(handover, "ANSWER_S", 0.05)
    hanging = Handover(file)
    with pytest.raises(RingError, match="does not hand its memory out: timed out"), received(offered(hanging)):
        pass


ASK = """
import os, sys
from dataclasses import replace
from sim_node.bridge.handover import received
from sim_node.bridge.offer import Offer
from sim_node.errors import RingError
from sim_node.layout import Layout
handle, generation, pid, groups = sys.argv[1].encode(), *map(int, sys.argv[2:4]), eval(sys.argv[4])
offer = Offer("vmm", "", generation, pid, 0, 0, 0, 0, "", "", "", Layout((), 0), 256, 0, 256, handle, ())
os.setgroups(groups)
os.setgid(65534)
os.setuid(65534)
try:
    with received(offer) as file:
        print(os.pread(file, 100, 0).decode())
except RingError as error:
    print(error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
@pytest.mark.parametrize(
    ("group", "groups", "said"),
    [
        (None, [4242], "refuses: the memory is for root (uid 0), not "),
        (4343, [4242], "refuses: the memory is for root (uid 0) and group 4343, not "),
        (4242, [4141, 4242], "the memory"),
        (65534, [], "the memory"),
        (65534, [*range(5000, 5300)], "the memory"),
        (4242, [*range(5000, 5300)], "refuses: the memory is for root (uid 0) and group 4242, not "),
    ],
)
def test_others_get_it_by_the_rings_group_only(file, group, groups, said):
    handing = Handover(file)
    handing.begin(GENERATION, group)
    command = [sys.executable, "-c", ASK, handing.handle.decode(), str(GENERATION), str(os.getpid()), str(groups)]
    told = subprocess.check_output(command, text=True)
    handing.end()
    assert told.startswith("the producer" if "refuses" in said else said)
    assert said in told
