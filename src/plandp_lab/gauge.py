"""What a call costs: seconds, and bytes at its peak."""

import gc
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path


def seconds_of(run: Callable[[], object]) -> float:
    """How long one call takes."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def cpu_seconds_of(run: Callable[[], object]) -> float:
    """How long this process works on one call: of two calls, other processes would interrupt the longer more often."""
    begin = time.process_time()
    run()
    return time.process_time() - begin


def peak_bytes(run: Callable[[], object]) -> int:
    """The most bytes that NumPy and Python held at once on top of what was there before."""
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    run()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak - before


def resident_peak() -> int:
    """The most bytes of memory that this process ever held at once, all that is loaded included; of Linux only."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return 1024 * int(line.split()[1])
