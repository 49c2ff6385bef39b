"""What an audit found, as a table, in words and as JSON."""

import json
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from plandp.audit.finding import Finding
from plandp.terms.receipt import write_fraction

SCHEMA = "plandp/audit/1"
WIDTHS = (17, 35, 46, 8)
HEAD = ("part", "claim", "found", "verdict")


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A finding, how long it took, and what it means when it is broken."""

    finding: Finding
    seconds: float
    meaning: str

    @property
    def verdict(self) -> str:
        """One word."""
        return "BROKEN" if self.finding.broken else "holds"


@dataclass(frozen=True, kw_only=True)
class AuditReport:
    """All findings of an audit; it is broken if one of them is."""

    method: str
    rho: Fraction
    minutes: float
    judged: tuple[Judged, ...]
    seconds: float
    versions: tuple[tuple[str, str], ...]

    @property
    def broken(self) -> tuple[str, ...]:
        """The parts whose claim does not hold."""
        return tuple(one.finding.name for one in self.judged if one.finding.broken)

    @property
    def false_alarm(self) -> float:
        """The probability, at most, that a correct library is called broken by this audit."""
        return sum(one.finding.false_alarm for one in self.judged)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON-ready values."""
        return {
            "schema": SCHEMA,
            "method": self.method,
            "rho": write_fraction(self.rho),
            "minutes": self.minutes,
            "broken": list(self.broken),
            "false_alarm": self.false_alarm,
            "seconds": round(self.seconds, 1),
            "versions": [list(pair) for pair in self.versions],
            "findings": [
                {**asdict(one.finding), "seconds": round(one.seconds, 1), "meaning": one.meaning} for one in self.judged
            ],
        }

    def to_json(self) -> str:
        """Return the report as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def details(self) -> str:
        """Return what each part has to say beyond the table."""
        lines = []
        for one in self.judged:
            lines.append(f"{one.finding.name} ({one.seconds:.0f} s, {one.finding.runs} runs)")
            lines += [_wrapped(line, "  ") for line in one.finding.detail.splitlines()]
        return "\n".join(lines)

    def __str__(self) -> str:
        rule = "  ".join("-" * width for width in WIDTHS)
        lines = [f"Audit of plandp, method {self.method}, rho = {self.rho}: {self.seconds:.0f} seconds", ""]
        lines += [*_cells(HEAD), rule]
        for one in self.judged:
            lines += [*_cells((one.finding.name, one.finding.claim, one.finding.found, one.verdict)), rule]
        lines += ["", self._verdict()]
        lines.append(
            _wrapped(
                f"A correct library is called broken with a probability of at most {self.false_alarm:.1e} per audit "
                "(the sum over all parts; parts that compute exactly raise no false alarms).  Scripted answers are the "
                "same in every audit; all other noise came from the operating system."
            )
        )
        lines.append("versions: " + ", ".join(f"{name} {version}" for name, version in self.versions))
        return "\n".join(lines)

    def _verdict(self) -> str:
        if not self.broken:
            return "No part found a broken promise.  An audit can find faults, it cannot prove that there are none."
        bar = "!" * sum(WIDTHS)
        lines = [bar, f"BROKEN: {', '.join(self.broken)}.  Do not release personal data with this installation.", bar]
        for one in self.judged:
            if one.finding.broken:
                lines += ["", f"{one.finding.name}: {one.finding.found}"]
                lines.append(_wrapped(f"What it means: {one.meaning}.", "  "))
                lines += [_wrapped(line, "  ") for line in one.finding.detail.splitlines()]
        return "\n".join([*lines, ""])


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, sum(WIDTHS) + 6, initial_indent=indent, subsequent_indent=indent + ("  " if indent else "")
    )


def _cells(cells: Sequence[str]) -> list[str]:
    """The lines of one row of the table, each cell wrapped to its column."""
    wrapped = [textwrap.wrap(cell, width) or [""] for cell, width in zip(cells, WIDTHS, strict=True)]
    height = max(map(len, wrapped))
    columns = [lines + [""] * (height - len(lines)) for lines in wrapped]
    return [
        "  ".join(line.ljust(width) for line, width in zip(row, WIDTHS, strict=True)).rstrip()
        for row in zip(*columns, strict=True)
    ]
