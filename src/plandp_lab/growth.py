"""How the cost of a release grows with rows and with columns, as a picture: both axes by powers of ten."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from tqdm import tqdm

from plandp_lab.gauge import cpu_seconds_of
from plandp_lab.gaussian_release import gaussian_table, release

REPEATS = 3


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A table and a budget with which all steps run."""

    n: int
    d: int
    rho: float = 1.0


LONG = tuple(Shape(n=n, d=16) for n in (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000))
# ρ grows with d: else 500 rows would be too few for any centre
WIDE = tuple(Shape(n=500, d=d, rho=d / 2.0) for d in (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000))
GROWTH = LONG, WIDE
SMALL_GROWTH = (Shape(n=1_000, d=2), Shape(n=2_000, d=2)), (Shape(n=500, d=2), Shape(n=500, d=4, rho=2.0))


@dataclass(frozen=True, kw_only=True)
class Point:
    """A shape and the median CPU time of its release and of the plain mean."""

    shape: Shape
    release: float
    mean: float


def growth_costs(lines: Sequence[Sequence[Shape]]) -> list[list[Point]]:
    """Time every shape of every line, and print it."""
    return [[_point(shape) for shape in tqdm(line, desc="shapes", leave=False)] for line in lines]


def _point(shape: Shape) -> Point:
    table = gaussian_table(shape.n, shape.d)
    run, mean = partial(release, table, shape.rho), partial(table.mean, axis=0)
    run()
    seconds = [(cpu_seconds_of(run), cpu_seconds_of(mean)) for _ in range(REPEATS)]
    point = Point(shape=shape, release=median(s[0] for s in seconds), mean=median(s[1] for s in seconds))
    print(f"{shape.n:>12,} × {shape.d:<8,} release {point.release:8.3f} s, X.mean {point.mean:8.4f} s", flush=True)
    return point


def draw_growth(lines: Sequence[Sequence[Point]], file: Path) -> None:
    """Draw CPU time over rows, and over columns."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
    names = f"rows n, {lines[0][0].shape.d} columns", f"columns d, {lines[1][0].shape.n} rows"
    for axis, points, name, of in zip(axes, lines, names, ("n", "d"), strict=True):
        size = [getattr(point.shape, of) for point in points]
        axis.loglog(size, [point.release for point in points], "o-", label="release")
        axis.loglog(size, [point.mean for point in points], "s-", label="X.mean(axis=0)")
        last = points[-1].release / size[-1]
        axis.loglog(size, [last * each for each in size], ":", color="0.6", label="in proportion")
        axis.set_xlabel(name)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("CPU seconds, one thread")
    axes[0].legend(frameon=False)
    file.parent.mkdir(parents=True, exist_ok=True)
    pyplot.rcParams["svg.hashsalt"] = "plandp"
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
    pyplot.close(figure)
