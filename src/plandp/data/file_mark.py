"""What tells whether a file is still the same: nothing of its content."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class FileMark:
    """Where a file is, how long it is and when it was last written."""

    device: int
    number: int
    size: int
    written: int

    @classmethod
    def of(cls, path: Path) -> "FileMark":
        """Return the mark of the file as it is now."""
        found = os.stat(path)
        return cls(device=found.st_dev, number=found.st_ino, size=found.st_size, written=found.st_mtime_ns)
