"""The cells of the accuracy table, and the figures they have to stand up to."""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from plandp_lab.tables import AWKWARD, Case, gaussian_a, skewed

REFERENCE_SOURCE = (
    'median noise error of the "integer design" prototype: 15–20 runs a cell, honest rho, smallest spread 2^-4 '
    "(ALGORITHM.md of the project's notes, section 4.1)"
)
FEW_DIMENSIONS, SOME_DIMENSIONS = 5, 3  # times as many runs where few coordinates carry the error


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One line of the table: a case at a budget, with the prototype's error where one was measured."""

    name: str
    case: Case
    rho: str
    error_norm: float = 2.0
    reference: float | None = None
    times_runs: int = 1  # so that the median is steady to about 3%
    compared: bool = False  # with the plain Gaussian mechanism and the unscaled method, in the same runs

    @property
    def label(self) -> str:
        """Name and budget, unique in the table; what `--cells` matches."""
        return f"{self.name} rho={self.rho}"


def all_cells() -> tuple[Cell, ...]:
    """Every cell, in the order of the table."""
    return (*_gaussian_cells(), *_many_rows_cells(), *_awkward_cells(), *_absolute_error_cells())


def find_cells(pattern: str) -> tuple[Cell, ...]:
    """The cells whose label matches the pattern, as a part of it or with `*` and `?`."""
    return tuple(cell for cell in all_cells() if fnmatchcase(cell.label, f"*{pattern}*"))


def _pair(
    name: str, case: Case, reference: tuple[float | None, float | None], times: int, compared: bool
) -> list[Cell]:
    return [
        Cell(name=name, case=case, rho=rho, reference=figure, times_runs=times, compared=compared)
        for rho, figure in zip(("1", "0.125"), reference, strict=True)
    ]


def _gaussian_cells() -> list[Cell]:
    cells = []
    for d, reference in ((64, (0.0273, 0.0790)), (512, (0.205, 0.583)), (1024, (0.401, 1.187))):
        cells += _pair(f"A n=4000 d={d}", gaussian_a(d), reference, 1, compared=False)
    for skew, reference, times in (
        (0, (0.0810, 0.222), 1),
        (1, (0.160, 0.462), 1),
        (2, (0.734, 1.97), SOME_DIMENSIONS),
    ):
        case = skewed("gaussian", 512, skew)
        cells += _pair(f"B n=10000 d=512 alpha={skew}", case, reference, times, compared=False)
    for d, reference, times in (
        (64, (0.0683, 0.185), FEW_DIMENSIONS),
        (512, (0.758, 2.03), SOME_DIMENSIONS),
        (1024, (1.68, 4.48), SOME_DIMENSIONS),
    ):
        cells += _pair(f"C n=10000 d={d}", skewed("gaussian", d, 2), reference, times, compared=False)
    return cells


def _many_rows_cells() -> list[Cell]:
    n, d = 100_000, 64
    return [
        Cell(name=f"A n={n} d={d}", case=gaussian_a(d, n), rho="0.01", reference=0.0115),
        *(
            Cell(
                name=f"B n={n} d={d} alpha={skew}",
                case=skewed("gaussian", d, skew, n),
                rho="0.01",
                reference=reference,
                times_runs=times,
            )
            for skew, reference, times in ((0, 0.0111, 1), (1, 0.0216, 1), (2, 0.0635, FEW_DIMENSIONS))
        ),
    ]


def _awkward_cells() -> list[Cell]:
    measured = {
        "t3": (0.439, 0.758),
        "lognormal": (0.72, 1.47),
        "mixture": (0.431, 1.02),
        "zero-inflated 5%": (0.74, 1.83),
        "zero-inflated 20%": (0.31, 0.81),
        "integers": (0.0172, 0.0465),
        "0/1 and Gaussian": (0.112, 0.302),
        "constant and Gaussian": (0.101, 0.270),
    }
    cells = []
    for family in AWKWARD:
        reference = measured.get(family, (None, None))
        cells += _pair(f"{family} n=10000 d=128", skewed(family, 128, 2), reference, SOME_DIMENSIONS, compared=True)
    return cells


def _absolute_error_cells() -> list[Cell]:
    return [
        Cell(name=f"{name}, p=1", case=case, rho=rho, error_norm=1.0)
        for name, case in (
            ("A n=4000 d=64", gaussian_a(64)),
            ("B n=10000 d=512 alpha=2", skewed("gaussian", 512, 2)),
        )
        for rho in ("1", "0.125")
    ]
