"""Writing bags: what other tools read, and what is never overwritten."""

import pytest
from rosbags.highlevel import AnyReader

from sim_node.errors import BagError
from sim_node.replay import messages
from sim_node.replay.writer import BagWriter


@pytest.mark.parametrize(("name", "storage"), [("w.mcap", "mcap"), ("w", "mcap"), ("w", "sqlite3")], ids=str)
def test_other_readers_find_topics_types_and_messages(recording, name, storage):
    with AnyReader([recording(name, storage)]) as reader:
        found = {c.topic: (c.msgtype, c.msgcount) for c in reader.connections}
        assert found["/spring/keyframe"] == (messages.KEYFRAME, 4)
        assert found["/spring/record"][0] == messages.RECORD
        ticks = [
            reader.deserialize(raw, c.msgtype).count for c, _, raw in reader.messages() if c.msgtype == messages.RECORD
        ]
        assert sum(ticks) == 600


def test_equal_runs_make_equal_files(recording):
    assert recording("a.mcap").read_bytes() == recording("b.mcap").read_bytes()


@pytest.mark.parametrize(("name", "storage"), [("w.mcap", "mcap"), ("w", "sqlite3")], ids=str)
def test_an_existing_bag_is_replaced_only_by_force(recording, name, storage):
    bag = recording(name, storage)
    with pytest.raises(BagError, match="--force"):
        BagWriter(bag, storage)
    with BagWriter(bag, storage, force=True):
        pass


def test_what_is_not_a_bag_is_never_replaced(tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("dear")
    (tmp_path / "notes").write_text("keep")
    for name in ("letters", "notes"):
        with pytest.raises(BagError, match="not replaced"):
            BagWriter(tmp_path / name, force=True)
    assert (tmp_path / "letters" / "dear.txt").read_text() == "dear"


@pytest.mark.parametrize(
    ("name", "storage", "words"),
    [("x.mcap", "sqlite3", "without .mcap"), ("x.db3", "sqlite3", "without .db3"), ("x", "tape", "mcap or sqlite3")],
)
def test_storages_and_names_that_do_not_fit_are_refused(tmp_path, name, storage, words):
    with pytest.raises(BagError, match=words):
        BagWriter(tmp_path / name, storage)
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    for name in ("file/run.mcap", "file/run"):
        with pytest.raises(BagError, match="cannot write the bag"):
            BagWriter(tmp_path / name)
