"""Which process has reserved, and whether it still runs."""

import os
from pathlib import Path

# The hashes of reservations that are open in this process: it outlives a run that fails in a notebook.
OPEN: set[str] = set()


def this_host() -> str:
    """Return the name of this machine."""
    import socket  # here, since most imports of plandp need no host

    return socket.gethostname()


def process_start(pid: int) -> str | None:
    """Return when that process started, in the system's own ticks; None where it has ended or nothing is told.

    Process ids are used again, in containers soon: together with its start an id names one process.
    """
    try:
        told = Path(f"/proc/{pid}/stat").read_bytes().decode(errors="replace")
    except OSError:
        return None
    # The second field is the program's name in parentheses and may hold spaces; the third is the state, Z for a process
    # that has ended and was not yet collected by its parent; the 22nd is the start.
    state, *further = told.rpartition(")")[2].split()
    return None if state in "ZX" else further[18]


def is_running(host: str | None, pid: int | None, start: str | None) -> bool:
    """Return whether that process is known to run: on this machine, with this id, since that start."""
    if os.name != "posix" or host != this_host() or pid is None or pid <= 0:
        return False
    try:
        os.kill(pid, 0)  # asks only
    except PermissionError:
        pass
    except (OSError, OverflowError):
        return False
    return start is None or process_start(pid) == start
