"""No process is forked while a transaction runs in one of its threads.

A forked child would hold a copy of the open connection, and of the locks inside SQLite, in whatever state they were.
"""

import os
import threading

GATE = threading.RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=GATE.acquire, after_in_parent=GATE.release, after_in_child=GATE.release)
