"""Do processes and threads that come from one another draw different noise?"""

import os
import select
import signal
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from plandp.audit.finding import Finding
from plandp.audit.plan import AuditPlan
from plandp.noise import meter

CHILDREN, THREADS, VALUES = 3, 4, 32
SQUARED, RHO = 1 << 95, Fraction(1, 2)  # σ = 2^47.5: no value comes twice by chance
PATIENCE = 60.0


@dataclass(frozen=True, kw_only=True)
class Forks:
    """Is no noise drawn twice, whoever is a copy of whom?"""

    name: str = "forks and threads"

    def run(self, plan: AuditPlan) -> Finding:
        """Draw in the process, in copies of it and in threads, and look for values that come twice."""
        door = meter.open_door(reserved=Fraction(10_000))
        streams = {"before": _noise(door) + _fresh()}  # whatever state there is, is there before the fork
        lost = 0
        if hasattr(os, "fork"):
            for child in range(CHILDREN):
                drawn = _in_a_copy(lambda: _noise(door) + _fresh())
                lost += not drawn
                streams[f"process {child}"] = drawn
        with ThreadPoolExecutor(THREADS) as pool:
            for thread, drawn in enumerate(pool.map(lambda _: _noise(door) + _fresh(), range(THREADS))):
                streams[f"thread {thread}"] = drawn
        streams["after"] = _noise(door) + _fresh()
        counts = Counter(value for drawn in streams.values() for value in drawn)
        twice = {value for value, times in counts.items() if times > 1}
        who = sorted(name for name, drawn in streams.items() if twice & set(drawn))
        total = counts.total()
        chance = total**2 / 2 / (2 * np.pi * SQUARED) ** 0.5
        broken = bool(twice) or lost > 0
        found = f"BROKEN: {len(twice)} values were drawn by several of {', '.join(who)}" if twice else ""
        return Finding(
            name=self.name,
            claim="forked processes and threads never draw the same noise",
            found=found or (f"BROKEN: {lost} processes drew nothing" if lost else f"{total} draws, none of them twice"),
            broken=broken,
            detail=f"{len(streams)} streams from doors opened before and after the fork"
            + ("" if hasattr(os, "fork") else "; this system cannot fork, only threads were tried"),
            false_alarm=float(chance),
            runs=total,
        )


def _noise(door: meter.MeteredNoise) -> list[int]:
    query = np.zeros(VALUES, np.int64)
    return [int(value) for value in door.release(query, squared_sensitivity=SQUARED, rho=RHO, step="audit").tolist()]


def _fresh() -> list[int]:
    """Noise and public coins of a door that was opened just now."""
    door = meter.open_door(reserved=RHO)
    coins = door.public_integers(below=1 << 62, count=VALUES).tolist()
    return _noise(door) + [-int(coin) - (1 << 62) for coin in coins]  # where noise never is


def _in_a_copy(draw: Callable[[], list[int]]) -> list[int]:
    """What a forked process draws; nothing if it does not answer."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn of forking beside threads; the child only draws and exits
        child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            os.write(writer, ",".join(map(str, draw())).encode())
        finally:
            os._exit(0)
    os.close(writer)
    answer = b""
    while select.select([reader], [], [], PATIENCE)[0]:
        part = os.read(reader, 1 << 16)
        if not part:
            break
        answer += part
    else:
        os.kill(child, signal.SIGKILL)  # our own child, which hangs
    os.close(reader)
    os.waitpid(child, 0)
    return [int(value) for value in answer.decode().split(",")] if answer else []
