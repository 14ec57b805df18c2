"""Huge pages come where the machine permits them; else one line says why not, and the ring works all the same."""

import mmap
import subprocess
import sys
from pathlib import Path

import pytest

from sim_node import dtypes
from sim_node.bridge import Publisher, Subscriber, huge_pages, rings
from sim_node.layout import Layout

LARGE = Layout.of([("x", dtypes.float32, (1 << 20,), "")])
ENABLED = Path("/sys/kernel/mm/transparent_hugepage/enabled")
MOUNTED = """
import sys
from sim_node import dtypes
from sim_node.bridge import Publisher, Subscriber, huge_pages, rings
from sim_node.layout import Layout
layout = Layout.of([("x", dtypes.float32, (1 << 20,), "")])
with Publisher(layout, name="huge", huge_pages=True) as publisher, Subscriber("huge") as subscriber:
    with publisher.next() as slot:
        slot["x"][:] = 7
        slot.commit(1, 1)
    with subscriber.next() as tick:
        assert (tick["x"] == 7).all()
    print(huge_pages.count(publisher.segment.memory), rings()[0].huge_bytes)
"""


def exercise(publisher, source):
    with publisher.next() as slot:
        slot["x"][:] = 3
        slot.commit(1, 1)
    with Subscriber(source) as subscriber, subscriber.next() as tick:
        assert (tick["x"] == 3).all()


@pytest.mark.skipif(not ENABLED.is_file() or "[never]" in ENABLED.read_text(), reason="this machine has none")
def test_a_ring_in_this_process_has_them(recwarn):
    with Publisher(LARGE, huge_pages=True) as publisher:
        if not recwarn.list:  # memory may be in pieces
            assert huge_pages.count(publisher.segment.memory) > 0
        exercise(publisher, publisher)


def test_where_the_kernel_refuses_one_line_says_so_and_the_ring_works(name, monkeypatch):
    monkeypatch.setattr(huge_pages, "_COLLAPSE", 12345)  # an advice that no kernel knows
    with pytest.warns(RuntimeWarning, match=rf"ring '{name}' has ordinary pages: the kernel makes none here") as told:
        publisher = Publisher(LARGE, name=name, huge_pages=True)
    assert len(told) == 1
    with publisher:
        exercise(publisher, name)


def test_what_is_smaller_than_one_and_a_kernel_without(monkeypatch, tmp_path):
    assert "not sure to hold" in huge_pages.gather(mmap.mmap(-1, 4096))
    monkeypatch.setattr(huge_pages, "_SIZE", tmp_path / "absent")
    assert huge_pages.gather(mmap.mmap(-1, 8 << 20)) == "this kernel has no transparent huge pages"


def test_memory_that_the_kernel_left_in_pieces_is_told(monkeypatch):
    monkeypatch.setattr(huge_pages, "_COLLAPSE", 14)
    monkeypatch.setattr(huge_pages, "count", lambda memory: 0)
    if huge_pages._SIZE.is_file():
        assert huge_pages.gather(mmap.mmap(-1, 8 << 20)) == "the kernel made none"


def test_without_asking_there_are_no_words(name, recwarn):
    with Publisher(LARGE, name=name):
        (info,) = [ring for ring in rings() if ring.name == name]
        assert info.huge_bytes is not None
    assert not recwarn.list


def test_where_the_mount_permits_them_both_sides_and_inspect_see_them():
    """In a mount namespace of its own, which root may make."""
    mount = 'mount -t tmpfs -o huge=advise,size=128m tmpfs /dev/shm && exec "$@"'
    command = ["unshare", "-m", "sh", "-c", mount, "sh", sys.executable, "-c", MOUNTED]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no unshare(1)")
    if done.returncode != 0 and ("unshare" in done.stderr or "mount" in done.stderr):
        pytest.skip(done.stderr.strip())
    if "ordinary pages" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    assert [int(word) > 0 for word in done.stdout.split()] == [True, True]
