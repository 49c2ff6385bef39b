"""Many cases of one target, in a process of their own: a crash of native code ends that process, and is counted."""

import contextlib
import multiprocessing
import resource
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import FlakyStrategyDefinition, HypothesisException

from plandp_lab.fuzz.targets import TARGETS, Target
from plandp_lab.fuzz.watch import Broken

MEMORY = 12 * 2**30
"""Bytes of addresses that a batch may take: a file which promises terabytes cannot stop the machine.

Arrow's allocator reserves some 5 GB of them, and uses a third of one.
"""

SECONDS_PER_CASE = 5.0
"""A batch that takes longer, case for case, hangs where no signal reaches it."""


@dataclass
class Tally:
    """How many cases ended how."""

    ends: Counter[str] = field(default_factory=Counter)
    longest: float = 0.0
    broken: dict[str, str] = field(default_factory=dict)  # what broke where: the first case that did it

    @property
    def cases(self) -> int:
        """The number of cases."""
        return self.ends.total()

    def add(self, other: "Tally") -> None:
        """Count those of another batch too."""
        self.ends += other.ends
        self.longest = max(self.longest, other.longest)
        self.broken = other.broken | self.broken


def in_own_process(target: Target, cases: int, start: int) -> Tally:
    """Run cases that follow from the number `start` alone, so that they can be run again."""
    spawn = multiprocessing.get_context("spawn")
    receiver, sender = spawn.Pipe(duplex=False)
    process = spawn.Process(target=_send, args=(sender, target.name, cases, start))
    process.start()
    sender.close()
    tally = Tally()
    again = f"python -m plandp_lab.fuzz --only {target.name!r} --cases {cases} --seed {start}"
    try:
        if receiver.poll(60.0 + SECONDS_PER_CASE * cases):
            tally = receiver.recv()
        else:
            tally.broken["it hangs"] = again
            process.kill()
    except EOFError:
        process.join()
        tally.broken[f"the process died with {process.exitcode}"] = again
    process.join()
    return tally


def _send(sender: Connection, name: str, cases: int, start: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sender.send(in_this_process(next(target for target in TARGETS if target.name == name), cases, start))
    sender.close()


def in_this_process(target: Target, cases: int, start: int) -> Tally:
    """Run cases here; what breaks is noted, and the rest runs on."""
    tally = Tally()

    @seed(start)
    @settings(
        max_examples=cases,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @given(st.data())
    def run(data: Any) -> None:
        begun = time.perf_counter()
        drawn: list[object] = []

        def draw(strategy: st.SearchStrategy[Any]) -> Any:
            value = data.draw(strategy)
            drawn.append(value)
            return value

        try:
            tally.ends[target.case(draw)] += 1
        except Broken as broken:
            tally.ends["broken"] += 1
            tally.broken.setdefault(_signature(broken), f"seed {start}: {broken!s:.3000}\n{_listed(drawn)}")
        except HypothesisException:
            raise
        except Exception as error:  # a mistake of the laboratory, to be seen and not to end the batch
            tally.ends["broken"] += 1
            tally.broken.setdefault(f"the laboratory: {error!r:.200}", f"seed {start}\n{traceback.format_exc()}")
        tally.longest = max(tally.longest, time.perf_counter() - begun)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of those who build the tables; plandp's own are watched
        # files that other libraries write are not the same to the byte each time, which ends a batch
        with contextlib.suppress(FlakyStrategyDefinition):
            run()
    return tally


def _signature(broken: Broken) -> str:
    """Return what broke and where in plandp, so that a thousand cases of one mistake are one."""
    cause = broken.__cause__
    if cause is None:
        return str(broken).partition(":")[0]
    places = [frame for frame in traceback.extract_tb(cause.__traceback__) if "/plandp/" in frame.filename]
    place = f"{places[-1].filename.rpartition('/plandp/')[2]}:{places[-1].lineno}" if places else "?"
    return f"{type(cause).__name__} from {place}"


def _listed(drawn: list[object]) -> str:
    lines = []
    for value in drawn:
        try:
            lines.append(f"{value!r:.300}")
        except Exception as error:  # Python writes no integers of thousands of digits
            lines.append(f"a {type(value).__name__} without a repr: {type(error).__name__}")
    return "\n".join(lines)
