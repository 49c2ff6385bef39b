"""`python -m plandp_lab.sparse_benchmark`: what a release of sparse rows costs beside `A.sum(axis=0)`, in one run."""

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from multiprocessing import get_context
from statistics import median
from time import process_time

import numpy as np
import scipy.sparse as sp
from tqdm import tqdm

import plandp
from plandp.data.open_sparse import open_sparse_rows
from plandp.data.rows import Sums
from plandp.data.sparse_rows import SparseBlock, SparseFunction, SparseRows
from plandp.handover import release_sparse
from plandp.kernels.compiler import compiled
from plandp.kernels.item_sets import write_set_norms
from plandp.noise.meter import open_door
from plandp.terms.choices import REFINEMENTS, read_sparse_columns
from plandp.terms.columns import Label
from plandp.terms.text_table import align
from plandp_lab.gauge import cpu_seconds_of, peak_bytes
from plandp_lab.item_tables import Baskets

REPEATS = 7
POINTS = 2**17  # the radius of a usual release, in lattice points
RHO = 1
MOST_ROW_WISE, MOST_TIMES, MOST_MEMORY = 2.5, 15.0, 1.0  # required: times A.sum(axis=0), and times the CSR indices
MOST_NOISE, MANY_ITEMS = 0.15e-6, 10_000  # required: seconds for the noise of one item, where there are so many
HEADINGS = "rows", "items", "ones", "A.sum", "row-wise", "release", "times", "noise", "memory", "peak", "required"


@dataclass(frozen=True, kw_only=True)
class SparseCase:
    """Baskets of a shape, and whether the release of their mean is held to anything."""

    baskets: Baskets
    required: bool = True


CASES = (
    SparseCase(  # Kosarak's shape
        baskets=Baskets(n=75_462, d=27_983, entries=4_194_414, least=20, longest=2_500, popularity=1.0, tail=1.6),
    ),
    SparseCase(  # POS's
        baskets=Baskets(n=515_596, d=1_657, entries=3_367_019, least=1, longest=164, popularity=0.9, tail=3.0),
    ),
    SparseCase(
        baskets=Baskets(n=200_000, d=1_000_000, entries=4_000_000, least=1, longest=5_000, popularity=1.0, tail=1.6),
        required=False,
    ),
)
SMALL = SparseCase(baskets=Baskets(n=500, d=50, entries=2_000, least=1, longest=20, popularity=1.0, tail=2.0))


@dataclass(frozen=True, kw_only=True)
class SparseCost:
    """Medians of interleaved repeats in CPU seconds, and the peak of what a release in a new process allocated."""

    case: SparseCase
    ones: int
    indices: int  # bytes
    sum: float
    row_wise: float  # counts of items, norms and clipped sums of both looks, and sums by group
    release: float
    noise: float  # of one sum over all items
    memory: int  # bytes

    @property
    def reached(self) -> bool:
        """Whether the case is within what is required."""
        d = self.case.baskets.d
        if d >= MANY_ITEMS and self.noise > MOST_NOISE * d:
            return False
        return not self.case.required or (
            self.row_wise <= MOST_ROW_WISE * self.sum
            and self.release <= MOST_TIMES * self.sum
            and self.memory <= MOST_MEMORY * self.indices
        )


@dataclass(frozen=True, kw_only=True)
class TimedRows:
    """Rows that take down the CPU time of every pass over them, with all that is done to blocks on the way."""

    rows: SparseRows
    seconds: list[float] = field(default_factory=list)

    @property
    def n(self) -> int:
        """The public number of rows."""
        return self.rows.n

    @property
    def d(self) -> int:
        """The public number of columns."""
        return self.rows.d

    @property
    def labels(self) -> tuple[Label, ...]:
        """The public names of the columns."""
        return self.rows.labels

    @property
    def passes(self) -> int:
        """How many times all rows were read."""
        return self.rows.passes

    @property
    def ordered(self) -> bool:
        """Whether `blocks` can bring the rows to this process."""
        return self.rows.ordered

    @property
    def in_memory(self) -> bool:
        """Whether rows lie in the memory of this process."""
        return self.rows.in_memory

    def fold(self, function: SparseFunction) -> Sums:
        """Fold the function and take down how long it took."""
        begin = process_time()
        sums = self.rows.fold(function)
        self.seconds.append(process_time() - begin)
        return sums

    def blocks(self) -> Iterator[SparseBlock]:
        """Go through the rows and take down how long it took, until the last block was done with."""
        begin = process_time()
        yield from self.rows.blocks()
        self.seconds.append(process_time() - begin)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all cases and print the table."""
    parser = argparse.ArgumentParser(prog="python -m plandp_lab.sparse_benchmark", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small table, to see that it works")
    asked = parser.parse_args(arguments)
    cases = (replace(SMALL, required=False),) if asked.quick else CASES
    compiler = "Numba" if compiled(write_set_norms) else "no compiler: pip install plandp[fast]"
    print(f"\nBaskets: {compiler}, float64 CSR, rho={RHO}, error_norm=1, exact noise, all post-processing.")
    print(f"CPU time, medians of {REPEATS} interleaved repeats; row-wise (all passes over rows within a")
    print("release) and times are multiples of A.sum, noise is that of one item, memory (the peak of one release in a")
    print("new process) is a multiple of the indices.\n")
    costs = [cost_of(case) for case in tqdm(cases, desc="cases", leave=False)]
    print("\n".join(align([HEADINGS, *map(_line, costs)])))


def cost_of(case: SparseCase) -> SparseCost:
    """Time the plain sum, every pass of a release and a whole release in turns, so that a busy moment meets all."""
    matrix = _matrix(case)
    _release(matrix)
    matrix.sum(axis=0)
    found = [
        (
            cpu_seconds_of(partial(matrix.sum, axis=0)),
            sum(seconds_of_passes(matrix)),
            cpu_seconds_of(partial(_release, matrix)),
            cpu_seconds_of(partial(_draw_noise, matrix.shape[1])),
        )
        for _ in range(REPEATS)
    ]
    plain, row_wise, release, noise = (median(column) for column in zip(*found, strict=True))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as new_process:
        memory = new_process.submit(peak_of, case).result()
    return SparseCost(
        case=case,
        ones=matrix.nnz,
        indices=matrix.indices.nbytes,
        sum=plain,
        row_wise=row_wise,
        release=release,
        noise=noise,
        memory=memory,
    )


def seconds_of_passes(matrix: sp.csr_array) -> list[float]:
    """How long a release works on every pass over the rows."""
    rows = TimedRows(rows=open_sparse_rows(matrix, binary=True))
    release_sparse(
        rows,
        open_door(reserved=Fraction(RHO), testing_seed=0),
        Fraction(RHO),
        kind="binary",
        public=read_sparse_columns(rows.labels, kind="binary", bounds=None, error_scale=None),
        error_norm=1.0,
        refine=frozenset(REFINEMENTS),
        warnings=(),
    )
    return rows.seconds


def peak_of(case: SparseCase) -> int:
    """The peak of one release in bytes, after a small one has loaded and compiled what is needed."""
    matrix = _matrix(case)
    _release(_matrix(SMALL))
    return peak_bytes(partial(_release, matrix))


def _matrix(case: SparseCase) -> sp.csr_array:
    return case.baskets.draw(np.random.default_rng(0)).rows


def _release(matrix: sp.csr_array) -> None:
    plandp.mean(matrix, kind="binary", rho=RHO, error_norm=1)


def _draw_noise(d: int) -> None:
    door = open_door(reserved=Fraction(RHO))
    door.release(np.zeros(d, np.int64), squared_sensitivity=2 * POINTS**2, rho=Fraction(RHO), step="sum")


def _line(cost: SparseCost) -> tuple[str, ...]:
    limits = f"row-wise {MOST_ROW_WISE:g}, times {MOST_TIMES:g}, noise {MOST_NOISE * 1e6:g}, memory {MOST_MEMORY:g}"
    return (
        f"{cost.case.baskets.n:,}",
        f"{cost.case.baskets.d:,}",
        f"{cost.ones:,}",
        f"{cost.sum:.4f} s",
        f"{cost.row_wise / cost.sum:.1f}",
        f"{cost.release:.3f} s",
        f"{cost.release / cost.sum:.1f}",
        f"{cost.noise / cost.case.baskets.d * 1e6:.2f} µs",
        f"{cost.memory / cost.indices:.2f}",
        f"{cost.memory / 2**20:.0f} MB",
        (limits if cost.case.required else "") + ("" if cost.reached else ": NOT REACHED"),
    )


if __name__ == "__main__":
    main()
