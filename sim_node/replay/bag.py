"""A bag to read: MCAP or sqlite3, one file or a folder, whole or torn."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mcap.exceptions import EndOfFile, RecordLengthLimitExceeded
from mcap.records import Channel, Message, Schema
from mcap.stream_reader import StreamReader
from rosbags.interfaces import MessageDefinitionFormat
from rosbags.rosbag2 import Reader

from sim_node.errors import BagError

STORAGES = {".mcap": "mcap", ".db3": "sqlite3"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A message as it lies in a bag: ``stamp_ns`` is when it was recorded, ``definition`` its type's text if known."""

    topic: str
    type: str
    stamp_ns: int
    raw: bytes
    definition: str = ""


class Bag:
    """A bag opened for reading.

    After the entries have been read, ``torn`` says where the bag ends before its time (a killed recorder), and
    ``damage`` what made the rest unreadable; both are empty for a whole bag. ``done`` counts bytes read, of ``nbytes``.
    Raises BagError when the path is not a bag.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.torn = ""
        self.damage = ""
        self.done = 0
        if not self.path.exists():
            raise BagError(f"{path}: no such bag; give a .mcap file or a bag folder")
        if self.path.is_file():
            if self.path.suffix not in STORAGES:
                raise BagError(f"{path}: not a bag; give a .mcap or .db3 file or a bag folder")
            self._files = [self.path]
        else:
            found = [file for file in self.path.iterdir() if file.suffix in STORAGES]
            self._files = sorted(found, key=lambda file: (len(file.name), file.name))
            if not found and not (self.path / "metadata.yaml").exists():
                raise BagError(f"{path}: a folder without .mcap or .db3 files is not a bag")

    @property
    def storage(self) -> str:
        """How messages are stored: mcap or sqlite3."""
        return STORAGES[self._files[0].suffix] if self._files else "compressed"

    @property
    def nbytes(self) -> int:
        """Bytes on disk."""
        return sum(file.stat().st_size for file in self._files)

    def __iter__(self) -> Iterator[Entry]:
        """Yield every entry in the order in which it was stored; stop where the bag becomes unreadable.

        Raises BagError when not one entry can be read and the bag is damaged.
        """
        self.torn = self.damage = ""
        self.done = count = 0
        try:
            for entry in self._entries():
                count += 1
                yield entry
        except EndOfFile:
            self.torn = f"the bag ends in the middle of a record; {count} messages before it were read"
        except MemoryError:
            self.damage = f"a record claims more memory than there is; {count} messages before it were read"
        except Exception as fault:  # a damaged file fails anywhere inside a reader, in any way
            self.damage = f"{type(fault).__name__}: {fault}; {count} messages before it were read"
        if self.damage and count == 0:
            raise BagError(f"{self.path}: unreadable: {self.damage}")

    def _entries(self) -> Iterator[Entry]:
        if self._is_compressed():
            yield from self._with_rosbags(self.path)
            return
        for file in self._files:
            yield from self._from_mcap(file) if file.suffix == ".mcap" else self._from_sqlite3(file)
        if self.path.is_dir() and not (self.path / "metadata.yaml").exists():
            self.torn = "the folder has no metadata.yaml: its recorder did not end"

    def _is_compressed(self) -> bool:
        """Tell whether files or messages are compressed outside their storage; only the folder's metadata says."""
        metadata = self.path / "metadata.yaml"
        if not metadata.is_file():
            return False
        lines = metadata.read_text("utf-8", "replace").splitlines()
        modes = [line.split(":", 1)[1].strip(" '\"").lower() for line in lines if "compression_mode:" in line]
        return any(mode in ("file", "message") for mode in modes)

    def _with_rosbags(self, path: Path) -> Iterator[Entry]:
        with Reader(path) as reader:
            for connection, stamp, raw in reader.messages():
                self.done += len(raw)
                is_text = connection.msgdef.format is MessageDefinitionFormat.MSG
                text = connection.msgdef.data if is_text else ""
                yield Entry(connection.topic, connection.msgtype, stamp, bytes(raw), text)

    def _from_sqlite3(self, file: Path) -> Iterator[Entry]:
        if file.with_name(file.name + "-journal").exists():
            # The recorder was killed inside a transaction: SQLite rolls it back when the file is next opened for
            # writing, and the reader opens it as immutable.
            recovery = sqlite3.connect(file)
            try:
                recovery.execute("SELECT count(*) FROM sqlite_master")
            finally:
                recovery.close()
        yield from self._with_rosbags(file)

    def _from_mcap(self, file: Path) -> Iterator[Entry]:
        """Read in file order, which is the order of recording, and needs neither summary nor index."""
        schemas: dict[int, Schema] = {}
        channels: dict[int, Channel] = {}
        start = self.done
        with file.open("rb") as stream:
            try:
                for record in StreamReader(stream, validate_crcs=True, record_size_limit=file.stat().st_size).records:
                    if isinstance(record, Schema):
                        schemas[record.id] = record
                    elif isinstance(record, Channel):
                        channels[record.id] = record
                    elif isinstance(record, Message):
                        channel = channels[record.channel_id]
                        schema = schemas[channel.schema_id]
                        text = schema.data.decode() if schema.encoding == "ros2msg" else ""
                        self.done = start + stream.tell()
                        yield Entry(channel.topic, schema.name, record.log_time, record.data, text)
            except RecordLengthLimitExceeded as fault:  # longer than the file: the rest of it was never written
                raise EndOfFile from fault
            except Exception as fault:
                if stream.read(1) == b"":  # whatever a half-written record looked like, the file ends in it
                    raise EndOfFile from fault
                raise
