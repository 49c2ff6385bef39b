"""The command `plandp` from its first moment: Ctrl-C while plandp is being imported is told like any other.

A package of its own, since the import of anything inside `plandp` is what may be stopped.
"""

import sys

STOPPED = "plandp: stopped; nothing was read or spent\n"

try:
    import os
    import signal
except KeyboardInterrupt:
    sys.stderr.write(STOPPED)
    sys.exit(130)


def main() -> int:
    """Import the command line and run it; returns its exit code."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:  # else it is ignored, as for a job in the background
        signal.signal(signal.SIGINT, _stopped)
    from plandp.cli.main import main as run

    signal.signal(signal.SIGINT, usual)  # from here on a stop has to tell what was spent
    return run()


def _stopped(_: int, __: object) -> None:
    # No exception: compiled modules that are being imported would make another one of it.  Nothing is open yet.
    os.write(2, STOPPED.encode())
    os._exit(130)
