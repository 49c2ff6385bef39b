"""Figures that others measured: the authors' published files, their code run again, and numbers in the paper's text."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

Source = Literal["published", "authors' code rerun", "paper's text"]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A median that is not ours; quartiles where they are known."""

    median: float
    low: float | None
    high: float | None
    runs: int | None
    source: Source


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a figure stands: which experiment, at which n, d, ρ and x."""

    experiment: str
    n: int
    d: int
    rho: str
    x: str


def published(place: Place, algorithm: str) -> Figure | None:
    """From the authors' result files: of Gaussian and synthetic binary data the error to the true mean."""
    return _all("published_results.csv").get(_key(place, algorithm))


def rerun(place: Place, algorithm: str) -> Figure | None:
    """From their code run again: the error to the empirical mean."""
    key = _key(place, algorithm)
    return _all("authors_code_rerun.csv").get(key) or _all("authors_code_on_subsets.csv").get(key)


def rerun_cells(algorithm: str, experiments: str) -> int:
    """In how many cells of experiments whose names begin so their code was run again."""
    return sum(key[0].startswith(experiments) and key[1] == algorithm for key in _all("authors_code_rerun.csv"))


def in_the_text(place: Place, algorithm: str) -> Figure | None:
    """From the paper's text and tables."""
    return _all("paper_text.csv").get(_key(place, algorithm))


_Key = tuple[str, str, int, int, str, str]


def _key(place: Place, algorithm: str) -> _Key:
    return (place.experiment, algorithm, place.n, place.d, _number(place.rho), _number(place.x))


@cache
def _all(name: str) -> dict[_Key, Figure]:
    return dict(_read(name))


def _read(name: str) -> Iterator[tuple[_Key, Figure]]:
    text = (files("plandp_lab.reproduce") / "figures_of_the_paper" / name).read_text(encoding="utf-8")
    for line in csv.DictReader(text.splitlines()):
        x = line.get("xvalue") or line["x"]
        place = Place(experiment=line["experiment"], n=int(line["n"]), d=int(line["d"]), rho=line["rho"], x=x)
        yield _key(place, line["algorithm"]), _figure(name, line)


def _figure(name: str, line: dict[str, str]) -> Figure:
    if "value" in line:
        source: Source = "paper's text" if name == "paper_text.csv" else "authors' code rerun"
        return Figure(median=float(line["value"]), low=None, high=None, runs=None, source=source)
    runs = int(line["runs"])
    if name == "authors_code_rerun.csv":
        median = float(line["vs_emp_median"])
        return Figure(median=median, low=None, high=None, runs=runs, source="authors' code rerun")
    return Figure(
        median=float(line["median"]), low=float(line["q25"]), high=float(line["q75"]), runs=runs, source="published"
    )


def _number(text: str) -> str:
    """The same text for the same number, and names as they are."""
    try:
        return f"{float(text):g}"
    except ValueError:
        return text
