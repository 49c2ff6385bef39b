"""Kosarak and POS in a directory of the user's: told from others, and from their own subsets, by n, d and the ones."""

from dataclasses import dataclass
from pathlib import Path

from plandp_lab.item_tables import read_sets
from plandp_lab.reproduce.workloads import StoredRows


@dataclass(frozen=True, kw_only=True)
class KnownSet:
    """A file that may be there, as `file`.npz."""

    title: str
    file: str
    n: int
    d: int
    entries: int
    subset: str = ""  # what of the paper's set it is; empty: all of it


KOSARAK = (
    KnownSet(title="Kosarak", file="kosarak", n=75_462, d=27_983, entries=4_194_414),
    KnownSet(
        title="Kosarak, SUBSET: people with 20 clicks or more of the first 100,000",
        file="kosarak_first100k_ge20",
        n=7_557,
        d=15_191,
        entries=416_138,
        subset="a tenth of its people, by the rule that makes the paper's set of the whole file",
    ),
)
POS = (
    KnownSet(title="POS", file="pos", n=515_596, d=1_657, entries=3_367_019),
    KnownSet(
        title="POS, SUBSET: 275,000 of the 515,597 rows of BMS-POS",
        file="bmspos_275k",
        n=275_000,
        d=1_515,
        entries=1_807_587,
        subset="53% of its rows, in the order of time",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Found:
    """A set that is there: its rows, and what they are."""

    known: KnownSet
    rows: StoredRows


def find_set(choice: tuple[KnownSet, ...], directory: Path | None) -> Found | str:
    """The first of these sets that the directory holds, the paper's own before subsets, or why there is none."""
    title = choice[0].title
    if directory is None:
        return f"{title}: left out, since no --data directory was given"
    wrong = []
    for known in choice:
        path = directory / f"{known.file}.npz"
        if not path.is_file():
            continue
        rows = read_sets(path).rows
        if (*rows.shape, rows.nnz) == (known.n, known.d, known.entries):
            stored = StoredRows(name=known.file, n=known.n, d=known.d, entries=known.entries, path=path)
            return Found(known=known, rows=stored)
        wrong.append(
            f"{path.name} has {rows.shape[0]:,} rows, {rows.shape[1]:,} columns and {rows.nnz:,} ones, "
            f"not {known.n:,}, {known.d:,} and {known.entries:,}"
        )
    names = " or ".join(f"{known.file}.npz" for known in choice)
    return f"{title}: left out, since " + ("; ".join(wrong) or f"the --data directory holds no {names}")
