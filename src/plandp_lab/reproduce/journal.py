"""Results on disk, run by run: each line carries a checksum, so that a run that was cut off is simply run again."""

import json
import os
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from plandp_lab.reproduce.cells import Record


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What a journal holds."""

    records: tuple[Record, ...]
    damaged: int  # lines that are not what was written


@dataclass(frozen=True)
class Journal:
    """A file of lines `checksum JSON`; only ever appended to."""

    path: Path

    def read(self) -> Kept:
        """Every whole record, the last one of those with the same cell, entrant and run."""
        if not self.path.exists():
            return Kept(records=(), damaged=0)
        found: dict[tuple[str, str, int], Record] = {}
        damaged = 0
        for line in self.path.read_bytes().split(b"\n"):
            checksum, _, text = line.partition(b" ")
            if not line:
                continue
            if checksum != _checksum(text):
                damaged += 1
                continue
            record = json.loads(text)
            found[record["cell"], record["entrant"], record["run"]] = record
        return Kept(records=tuple(found.values()), damaged=damaged)

    def append(self, records: Iterable[Record]) -> None:
        """Write the records in one piece; they are on the disk when this returns."""
        texts = [json.dumps(record, sort_keys=True).encode() for record in records]
        # what stands before may be a line that was cut off: begin a new one
        lines = b"".join(b"\n" + _checksum(text) + b" " + text for text in texts)
        with self.path.open("ab", buffering=0) as file:
            file.write(lines)
            os.fsync(file.fileno())


def _checksum(text: bytes) -> bytes:
    return f"{zlib.crc32(text):08x}".encode()
