"""The lines of the sparse accuracy table: what is measured, and the figures it has to stand up to."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from numpy.random import Generator

from plandp_lab.item_tables import Baskets, ItemTable, TwoPopularities, read_sets

PROTOTYPE_SOURCE = "the prototype PLAN-B+, medians (ALGORITHM.md of the project's notes, section 5)"
AUTHORS_SOURCE = (
    "the code of the paper's authors run again on the same files (section 5 there), and for Binary what they published"
)
RHOS = "1", "0.25", "0.0625"
ALL = ("combine", "shrink", "clamp")
NOT_SHRUNK = ("combine", "clamp")


@dataclass(frozen=True, kw_only=True)
class ItemCell:
    """One line: a budget, an error norm, and the figures known of it."""

    rho: str
    error_norm: int
    refine: tuple[str, ...] = ALL
    prototype: float | None = None
    authors: float | None = None
    halved: bool = False  # at most half of the authors' error is required
    held_to: bool = True  # False: printed, never marked


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A kind of table with its lines; drawn afresh for every run, or read once."""

    name: str
    table: Callable[[Generator], ItemTable]
    cells: tuple[ItemCell, ...]
    fixed: bool = False


@dataclass(frozen=True, kw_only=True)
class RealSet:
    """A public data set that may lie in the directory given, as `name`.npz; its size tells it from others."""

    name: str
    n: int
    d: int
    entries: int
    cells: tuple[ItemCell, ...]

    def subject(self, directory: Path | None) -> Subject | str:
        """The set as a subject, or why it is skipped."""
        if directory is None:
            return f"{self.name}: skipped, no --data directory given"
        file = directory / f"{self.name}.npz"
        if not file.is_file():
            return f"{self.name}: skipped, the --data directory has no {file.name}"
        table = read_sets(file)
        if (*table.rows.shape, table.rows.nnz) != (self.n, self.d, self.entries):
            expected = f"{self.n:,} rows, {self.d:,} columns and {self.entries:,} ones"
            return f"{self.name}: skipped, {file.name} is not the set with {expected}"
        return Subject(name=self.name, table=lambda _: table, cells=self.cells, fixed=True)


def _required(prototype: tuple[float, ...], authors: tuple[float, ...]) -> tuple[ItemCell, ...]:
    absolute = tuple(
        ItemCell(rho=rho, error_norm=1, prototype=ours, authors=theirs, halved=True)
        for rho, ours, theirs in zip(RHOS, prototype, authors, strict=True)
    )
    return absolute + _both_norms(RHOS)[len(RHOS) :]


def _both_norms(rhos: tuple[str, ...], *, held_to: bool = True) -> tuple[ItemCell, ...]:
    return tuple(ItemCell(rho=rho, error_norm=p, held_to=held_to) for p in (1, 2) for rho in rhos)


REAL_SETS = (
    RealSet(
        name="fimi_retail",
        n=88_162,
        d=16_470,
        entries=908_576,
        cells=_required((0.281, 0.493, 0.873), (0.667, 1.29, 2.34)),
    ),
    RealSet(
        name="bmspos_275k",
        n=275_000,
        d=1_515,
        entries=1_807_587,
        cells=_required((0.0111, 0.0210, 0.0362), (0.0258, 0.0459, 0.0841)),
    ),
    RealSet(
        name="kosarak_first100k_ge20",
        n=7_557,
        d=15_191,
        entries=416_138,
        cells=_required((5.63, 8.73, 13.1), (12.6, 21.1, 37.3)),
    ),
    *(
        RealSet(name=name, n=n, d=d, entries=entries, cells=_both_norms(RHOS, held_to=False))
        for name, n, d, entries in (
            ("kosarak_first100k", 100_000, 23_496, 801_943),
            ("bms_webview1", 59_602, 497, 149_639),
            ("msweb", 32_710, 285, 98_653),
        )
    ),
)


def _two_popularities(popular: float, prototype: float, authors: float) -> Subject:
    """The gain of shrinking on two-valued means says nothing about others, so that it is not held to anything."""
    return Subject(
        name=f"Binary n=4096 d=1024 ratio={popular:g}",
        table=TwoPopularities(n=4096, d=1024, popular=popular).draw,
        cells=(
            ItemCell(rho="0.125", error_norm=1, refine=NOT_SHRUNK, prototype=prototype, authors=authors),
            ItemCell(rho="0.125", error_norm=1, authors=authors),
            ItemCell(rho="0.125", error_norm=2, refine=NOT_SHRUNK),
            ItemCell(rho="0.125", error_norm=2),
        ),
    )


SHOP = {"n": 20_000, "d": 5_000, "entries": 300_000, "least": 1, "longest": 400}
SYNTHETIC = (
    _two_popularities(0, 1.25, 1.74),
    _two_popularities(0.25, 2.61, 4.10),
    _two_popularities(0.5, 4.07, 6.13),
    _two_popularities(1, 7.41, 10.3),
    Subject(
        name="baskets n=20000 d=5000",
        table=Baskets(**SHOP, popularity=1.1, tail=1.5).draw,
        cells=_both_norms(RHOS),
    ),
    Subject(
        name="baskets n=7000 d=290000",
        table=Baskets(n=7_000, d=290_000, entries=700_000, least=1, longest=5_000, popularity=0.9, tail=1.2).draw,
        cells=_both_norms(("1", "0.0625", "0.001")),
    ),
    Subject(
        name="counts n=20000 d=5000",
        table=Baskets(**SHOP, popularity=1.1, tail=1.5, counted=50.0).draw,
        cells=_both_norms(RHOS),
    ),
)


def find_subjects(directory: Path | None, pattern: str = "") -> tuple[list[Subject], list[str]]:
    """The subjects whose name contains the pattern, and a line for every set that was skipped."""
    found = [known.subject(directory) for known in REAL_SETS if pattern in known.name]
    synthetic = [subject for subject in SYNTHETIC if pattern in subject.name]
    real = [subject for subject in found if isinstance(subject, Subject)]
    return real + synthetic, [reason for reason in found if isinstance(reason, str)]
