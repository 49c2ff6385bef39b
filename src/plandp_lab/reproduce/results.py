"""Records brought together: medians and quartiles by cell and entrant, and the files that others can read."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plandp.errors import MissingExtra
from plandp_lab.reproduce.cells import Cell, Record


@dataclass(frozen=True, kw_only=True)
class Quartiles:
    """Of all runs of an entrant in a cell."""

    low: float
    median: float
    high: float
    mean: float
    worst: float
    runs: int

    @property
    def relative_width(self) -> float:
        """How far the quartiles are apart, over the median."""
        return (self.high - self.low) / self.median

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> "Quartiles":
        """Bring the runs together."""
        low, median, high = np.quantile(values, (0.25, 0.5, 0.75))
        return cls(
            low=float(low),
            median=float(median),
            high=float(high),
            mean=float(values.mean()),
            worst=float(values.max()),
            runs=len(values),
        )


@dataclass(frozen=True)
class Results:
    """All that was measured, by cell, entrant and measure."""

    records: Sequence[Record]
    _found: dict[tuple[str, str, str], dict[int, float]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        found: dict[tuple[str, str, str], dict[int, float]] = defaultdict(dict)
        for record in self.records:
            for measure, error in {**record["errors"], "seconds": record["seconds"]}.items():
                found[record["cell"], record["entrant"], measure][record["run"]] = error
        object.__setattr__(self, "_found", dict(found))

    def quartiles(self, cell: Cell, entrant: str, measure: str) -> Quartiles | None:
        """Of all errors; None before the first."""
        errors = self.errors(cell, entrant, measure)
        return Quartiles.of(np.array(list(errors.values()))) if errors else None

    def errors(self, cell: Cell, entrant: str, measure: str) -> dict[int, float]:
        """By run, those of the cell's own number of runs, not of more that another time left behind."""
        runs = self._found.get((cell.key, entrant, measure), {})
        return {run: error for run, error in sorted(runs.items()) if run < cell.runs}

    def median(self, cell: Cell, entrant: str, measure: str) -> float | None:
        """The median, where anything was measured."""
        found = self.quartiles(cell, entrant, measure)
        return None if found is None else found.median


def write_results(records: Iterable[Record], folder: Path) -> None:
    """Write results.csv and results.parquet: one line per run and measure, with settings, seeds and versions."""
    try:
        import pyarrow  # type: ignore[import-untyped]
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("pyarrow", "arrow", "writing Parquet") from None
    lines = [
        {name: value for name, value in record.items() if name != "errors"} | {"measure": measure, "error": error}
        for record in sorted(records, key=lambda record: (record["cell"], record["entrant"], record["run"]))
        for measure, error in record["errors"].items()
    ]
    if not lines:
        return
    with (folder / "results.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    parquet.write_table(pyarrow.Table.from_pylist(lines), folder / "results.parquet")
