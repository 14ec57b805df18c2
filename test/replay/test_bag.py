"""Reading bags: whole, torn by a kill, damaged."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

from sim_node.errors import BagError, SimNodeError
from sim_node.replay import messages
from sim_node.replay.bag import Bag
from sim_node.replay.verify import verify

ROOT = Path(__file__).resolve().parents[2]

# Records without an end, flushing each batch, and tells of it.
ENDLESS = """
import sys
sys.path.insert(0, {folder!r})
from conftest import Spring
from sim_node.replay import record
from sim_node.replay.writer import BagWriter
record.FLUSH_S = -1.0
with BagWriter({bag!r}, {storage!r}) as writer:
    tell = lambda ticks: print(ticks, flush=True)
    record.record_offline(Spring(), writer, name="s", ticks=10**9, inputs={{"force": 1.0}}, progress=tell)
"""


@pytest.mark.parametrize(("name", "storage"), [("k.mcap", "mcap"), ("k", "mcap"), ("k", "sqlite3")], ids=str)
def test_what_a_killed_recorder_has_flushed_verifies(tmp_path, build, name, storage):
    script = ENDLESS.format(folder=str(Path(__file__).parent), bag=str(tmp_path / name), storage=storage)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment) as recorder:
        for _ in range(4):
            flushed = int(recorder.stdout.readline())
        recorder.send_signal(signal.SIGKILL)
    report = verify(tmp_path / name, build=build)
    assert report.torn
    assert report.ticks >= flushed
    assert (report.verified, report.diverged, report.exit_code) == (report.ticks, 0, 0)


def test_every_truncation_of_a_file_is_read_as_far_as_it_goes(recording, build, tmp_path):
    whole = recording(ticks=200, keyframe_every=50).read_bytes()
    torn = tmp_path / "torn.mcap"
    for size in np.linspace(0, len(whole) - 1, 60, dtype=int):
        torn.write_bytes(whole[:size])
        report = verify(torn, build=build)
        assert report.torn or report.damage or size > len(whole) - 200
        assert report.diverged == 0
        assert report.exit_code == (0 if report.verified else 2)


@pytest.mark.parametrize(("name", "storage"), [("f.mcap", "mcap"), ("f", "mcap"), ("f", "sqlite3")], ids=str)
def test_any_damage_is_a_report_or_one_clear_error(recording, build, name, storage):
    bag = recording(name, storage, ticks=100)
    file = bag if bag.is_file() else next(f for f in bag.iterdir() if f.suffix in (".mcap", ".db3"))
    whole, random = file.read_bytes(), np.random.default_rng(5)
    silent = 0
    for _ in range(120):
        damaged = bytearray(whole)
        for at in random.integers(0, len(whole), random.integers(1, 4)):
            damaged[at] ^= 1 << random.integers(8)
        file.write_bytes(damaged)
        try:
            report = verify(bag, build=build)
        except SimNodeError:
            continue
        assert bool(report.fault) == (report.exit_code == 2)
        silent += report.exit_code == 0
    assert silent < 120


@pytest.mark.parametrize("mode", [CompressionMode.FILE, CompressionMode.MESSAGE])
def test_compressed_folders_are_read(recording, build, tmp_path, mode):
    with_compression = Writer(tmp_path / "packed", version=9, storage_plugin=StoragePlugin.SQLITE3)
    with_compression.set_compression(mode, CompressionFormat.ZSTD)
    with with_compression as writer:
        channels = {}
        for entry in Bag(recording()):
            if entry.topic not in channels:
                channels[entry.topic] = writer.add_connection(entry.topic, entry.type, typestore=messages.store())
            writer.write(channels[entry.topic], entry.stamp_ns, entry.raw)
    assert verify(tmp_path / "packed", build=build).verified == 600


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "no such bag"),
        (lambda path: path.write_text("text"), "not a bag"),
        (lambda path: path.mkdir(), "without .mcap or .db3"),
    ],
)
def test_what_is_not_a_bag_is_refused(tmp_path, make, words):
    path = tmp_path / "thing.txt"
    make(path)
    with pytest.raises(BagError, match=words):
        Bag(path)


def test_a_definition_of_another_version_is_refused(recording, build, monkeypatch):
    bag = recording()
    texts = messages.definitions()
    changed = {**texts, messages.RECORD: texts[messages.RECORD] + "\nuint32 more\n"}
    monkeypatch.setattr(messages, "definitions", lambda: changed)
    messages.store.cache_clear()
    try:
        with pytest.raises(BagError, match=r"Record in this bag differs in 'more'"):
            verify(bag, build=build)
    finally:
        messages.store.cache_clear()
