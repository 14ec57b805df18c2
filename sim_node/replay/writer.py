"""Writing a bag: MCAP or sqlite3, a single .mcap file or a folder as rosbag2 makes it."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import mcap.writer
from rosbags.interfaces import Connection
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as FolderWriter
from rosbags.rosbag2.errors import WriterError

from sim_node.errors import BagError
from sim_node.replay.bag import STORAGES
from sim_node.replay.messages import store

PLUGINS = {"mcap": StoragePlugin.MCAP, "sqlite3": StoragePlugin.SQLITE3}


class _Sink(Protocol):
    def add(self, topic: str, type_name: str, definition: str, digest: str) -> Any: ...
    def write(self, channel: Any, stamp_ns: int, raw: bytes | memoryview) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...


class _File:
    """A single .mcap file, with a checksum a chunk."""

    def __init__(self, path: Path) -> None:
        self._stream = path.open("xb")
        self._writer = mcap.writer.Writer(self._stream)
        self._writer.start(profile="ros2", library="sim_node")
        self._schemas: dict[str, int] = {}

    def add(self, topic: str, type_name: str, definition: str, digest: str) -> int:
        if type_name not in self._schemas:
            self._schemas[type_name] = self._writer.register_schema(type_name, "ros2msg", definition.encode())
        about = {"offered_qos_profiles": "", "topic_type_hash": digest}
        return self._writer.register_channel(topic, "cdr", self._schemas[type_name], about)

    def write(self, channel: int, stamp_ns: int, raw: bytes | memoryview) -> None:
        self._writer.add_message(channel, stamp_ns, bytes(raw), stamp_ns)

    def flush(self) -> None:
        self._writer.flush()  # type: ignore[no-untyped-call]

    def close(self) -> None:
        with self._stream:
            self._writer.finish()  # type: ignore[no-untyped-call]


class _Folder:
    """A folder with one file of either storage and a metadata.yaml."""

    def __init__(self, path: Path, storage: str) -> None:
        self._writer = FolderWriter(path, version=9, storage_plugin=PLUGINS[storage])
        self._writer.open()

    def add(self, topic: str, type_name: str, definition: str, digest: str) -> Connection:
        return self._writer.add_connection(topic, type_name, msgdef=definition, rihs01=digest)

    def write(self, channel: Connection, stamp_ns: int, raw: bytes | memoryview) -> None:
        self._writer.write(channel, stamp_ns, raw)

    def flush(self) -> None:
        """Bring to the file what the storage holds back: rosbags itself does so only at the end."""
        storage: Any = self._writer.storage
        if self._writer.storage_plugin is StoragePlugin.SQLITE3:
            storage.conn.commit()
        elif storage.chunk.msgs:
            storage.close_chunk()
            storage.bio.flush()

    def close(self) -> None:
        self._writer.close()


class BagWriter:
    """A bag open for writing; leaving the ``with`` block completes it, also after an exception, and
    removes it if that came before the first message.

    ``path`` ending in .mcap is a single file, anything else a folder; ``force`` replaces an existing bag.
    Raises BagError when the path is taken or cannot be written.
    """

    def __init__(self, path: str | Path, storage: str = "mcap", force: bool = False) -> None:
        self.path = Path(path)
        self.counts: dict[str, int] = {}
        self._channels: dict[str, Any] = {}
        if storage not in PLUGINS:
            raise BagError(f"{storage}: not a bag storage; use {' or '.join(PLUGINS)}")
        if self.path.suffix == ".mcap" and storage != "mcap":
            raise BagError(f"{path}: a {storage} bag is a folder; name it without .mcap")
        if self.path.suffix == ".db3":
            raise BagError(f"{path}: a sqlite3 bag is a folder; name it without .db3")
        try:
            _clear(self.path, force)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._sink: _Sink = _File(self.path) if self.path.suffix == ".mcap" else _Folder(self.path, storage)
        except (OSError, WriterError, sqlite3.Error) as fault:
            raise BagError(f"{path}: cannot write the bag: {fault}") from fault

    def write(self, topic: str, type_name: str, stamp_ns: int, raw: bytes | memoryview) -> None:
        """Append one serialised message of one of the package's types; ``stamp_ns`` is when it was recorded."""
        try:
            if topic not in self._channels:
                definition, _ = store().generate_msgdef(type_name, ros_version=2)
                digest = store().hash_rihs01(type_name)
                self._channels[topic] = self._sink.add(topic, type_name, definition, digest)
                self.counts[topic] = 0
            self._sink.write(self._channels[topic], stamp_ns, raw)
        except (OSError, sqlite3.Error) as fault:
            raise BagError(f"{self.path}: cannot write the bag: {fault}") from fault
        self.counts[topic] += 1

    def flush(self) -> None:
        """Hand to the operating system what was written so far: it then outlives this process."""
        try:
            self._sink.flush()
        except (OSError, sqlite3.Error) as fault:
            raise BagError(f"{self.path}: cannot write the bag: {fault}") from fault

    def close(self) -> None:
        """Write index and summary."""
        try:
            self._sink.close()
        except (OSError, sqlite3.Error) as fault:
            raise BagError(f"{self.path}: cannot complete the bag: {fault}") from fault

    def __enter__(self) -> BagWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if fault is not None and not self.counts:
            self._discard()  # it would only stand in the way of the next try
        else:
            self.close()

    def _discard(self) -> None:
        self.close()
        _clear(self.path, force=True)


def _clear(path: Path, force: bool) -> None:
    """Make way for a new bag; what is not a bag is never removed."""
    if not path.exists():
        return
    if not force:
        raise BagError(f"{path}: exists already; choose another name or give --force to replace it")
    if path.is_file():
        if path.suffix not in STORAGES:
            raise BagError(f"{path}: is not a bag, so it is not replaced; choose another name")
        path.unlink()
        return
    strangers = [file.name for file in path.iterdir() if file.suffix not in STORAGES and file.name != "metadata.yaml"]
    if strangers:
        raise BagError(f"{path}: holds more than a bag ({strangers[0]}), so it is not replaced; choose another name")
    shutil.rmtree(path)
