"""Whom a dataset's budget protects."""

from dataclasses import dataclass
from typing import Self

from plandp.errors import ArgumentError


@dataclass(frozen=True, kw_only=True)
class Unit:
    """Rows, or the people of one column; the words are those of receipts."""

    person: str | None
    privacy_unit: str
    neighbours: str

    @classmethod
    def of(cls, person: object) -> Self:
        """Return the unit of that column, or of rows for None; a label counts as its text."""
        if person is None:
            return cls(person=None, privacy_unit="row", neighbours="replace one row")
        if isinstance(person, bool) or not isinstance(person, str | int) or person == "":
            raise ArgumentError("person", "must be the label of the column that says whose row it is, or left out")
        return cls(person=str(person), privacy_unit="person", neighbours="replace all events of one person")

    def __str__(self) -> str:
        return "rows" if self.person is None else f"people (column {self.person!r})"
