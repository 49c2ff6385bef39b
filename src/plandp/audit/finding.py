"""What one part of the audit found."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A claim of the library, what was found instead or as well, and whether the claim is broken."""

    name: str  # of the part
    claim: str  # one line
    found: str  # one line
    broken: bool
    detail: str  # lines for those who want to know more; when broken: what it means and where
    false_alarm: float  # the probability, at most, that a correct library is called broken; 0 for exact parts
    runs: int
