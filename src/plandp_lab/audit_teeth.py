"""`python -m plandp_lab.audit_teeth`: plants every fault, audits, and says which part found it and how soon.

Each fault has a process of its own.  With `--audits N` the library as it is gets audited N times instead, and false
alarms are counted; with `--counting` by the parts that can raise one.  Exit code 1 if a fault is missed or on an alarm.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from tqdm import tqdm

from plandp.audit.audit import audit
from plandp.audit.finding import Finding
from plandp.audit.parts import PARTS, Part, Share
from plandp.audit.plan import AuditPlan
from plandp_lab.planted_faults import FAULTS, planted


@dataclass(frozen=True, kw_only=True)
class Bite:
    """What an audit made of one fault; `part` is "" where it found nothing."""

    fault: str
    part: str
    found: str
    seconds: float


@dataclass(kw_only=True)
class UntilFound:
    """A part of the audit that does nothing once another part has found something."""

    part: Part
    broken: list[Finding] = field(default_factory=list)  # shared by all parts

    @property
    def name(self) -> str:
        """What the table of findings calls it."""
        return self.part.name

    def run(self, plan: AuditPlan) -> Finding:
        """Attack, unless there is no need to any more."""
        if self.broken:
            return Finding(
                name=self.name, claim="not tried", found="not tried", broken=False, detail="", false_alarm=0.0, runs=0
            )
        finding = self.part.run(plan)
        if finding.broken:
            self.broken.append(finding)
        return finding


def bitten(name: str, *, minutes: float, parts: tuple[Share, ...] = PARTS, method: str = "all") -> Bite:
    """Plant the fault in this process, and audit until a part finds something; no name: nothing is planted."""
    broken: list[Finding] = []
    stopping = tuple(replace(share, part=UntilFound(part=share.part, broken=broken)) for share in parts)
    began = time.perf_counter()
    if name:
        with planted(name):
            report = audit(minutes=minutes, parts=stopping, method=method)
    else:
        report = audit(minutes=minutes, parts=stopping, method=method)
    first = next((one.finding for one in report.judged if one.finding.broken), None)
    return Bite(
        fault=name,
        part="" if first is None else first.name,
        found="" if first is None else first.found.removeprefix("BROKEN: "),
        seconds=time.perf_counter() - began,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit the library with each of the faults asked for, or without any, and print what was found."""
    asked = _parser().parse_args(arguments)
    if asked.one is not None:
        print(json.dumps(asdict(bitten(asked.one, minutes=asked.minutes, method=asked.method))))
        return 0
    if asked.audits:
        return _false_alarms(asked.audits, asked.minutes, asked.method, counting=asked.counting)
    bites = []
    for name in tqdm([name for name in FAULTS if asked.faults in name], unit="fault"):
        bites.append(_in_a_fresh_process(name, asked.minutes, asked.method))
        if asked.json is not None:
            asked.json.write_text(json.dumps([asdict(bite) for bite in bites], indent=1, ensure_ascii=False) + "\n")
    missed = [bite.fault for bite in bites if not bite.part]
    print("\n".join(table(bites)))
    print(f"\n{len(bites) - len(missed)} of {len(bites)} faults found, in audits of up to {asked.minutes:g} minutes.")
    print("".join(f"MISSED: {name}\n" for name in missed), end="")
    return 1 if missed else 0


def _false_alarms(audits: int, minutes: float, method: str, *, counting: bool) -> int:
    """Audit the library as it is, and say how often a part called it broken."""
    parts = tuple(share for share in PARTS if share.alarms > 0.0) if counting else PARTS
    alarms, began = 0, time.perf_counter()
    for number in tqdm(range(1, audits + 1), unit="audit"):
        bite = bitten("", minutes=minutes, parts=parts, method=method)
        alarms += bool(bite.part)
        if bite.part:
            print(f"ALARM in audit {number}: {bite.part}: {bite.found}", flush=True)
    names = ", ".join(share.part.name for share in parts)
    print(
        f"{audits} audits of the library as it is: {alarms} alarms ({time.perf_counter() - began:.0f} seconds; {names})"
    )
    return 1 if alarms else 0


def table(bites: Sequence[Bite]) -> list[str]:
    """Fault × part that found it × seconds, as a table of a document."""
    lines = ["| planted fault | found by | as | seconds |", "|---|---|---|---:|"]
    for bite in bites:
        found = bite.found if len(bite.found) <= 80 else bite.found[:79] + "…"
        lines.append(f"| {bite.fault} | {bite.part or '**missed**'} | {found} | {bite.seconds:.0f} |")
    return lines


def _in_a_fresh_process(name: str, minutes: float, method: str) -> Bite:
    command = [sys.executable, "-m", "plandp_lab.audit_teeth", "--one", name, "--minutes", str(minutes)]
    done = subprocess.run([*command, "--method", method], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the audit of {name!r} did not end well:\n{done.stderr}")
    return Bite(**json.loads(done.stdout.splitlines()[-1]))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m plandp_lab.audit_teeth", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0, help="that each audit has, at most")
    parser.add_argument("--method", default="all", help="of plandp.mean that is audited")
    parser.add_argument("--faults", default="", help="only faults whose names contain this")
    parser.add_argument("--audits", type=int, default=0, help="plant nothing, audit so many times, count false alarms")
    parser.add_argument("--counting", action="store_true", help="of these, only parts that can raise a false alarm")
    parser.add_argument("--json", type=Path, help="also write what was found to this file")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
