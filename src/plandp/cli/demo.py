"""`plandp demo`: a private mean from table to receipt, on people who do not exist."""

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import plandp
from plandp.cli.time_use import MINUTES_A_DAY, NAMES, time_use_table
from plandp.errors import MissingExtra
from plandp.report.picture import draw_release, svg_text
from plandp.terms.text_table import align

RHO = "0.1"
PICTURE = Path("demo_output") / "time_use.svg"
# measured over 1,000 runs; tests/rooms/cli/test_demo_coverage.py repeats some of them
COVERAGE = """\
21 or more do in 19 of 20 runs.
By the noise alone 95% would; clipping, which shortens long tails, leaves 94%."""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Describe the command to argparse."""
    told = "tell the whole story on an example that needs no data"
    command = commands.add_parser("demo", help=told, description=told.capitalize() + ".")
    command.set_defaults(run=run)


def run(asked: argparse.Namespace) -> None:
    """Print the story; the noise is secure, so every run tells it with other numbers."""
    table = time_use_table()
    truth = table.mean(axis=0)
    release, unscaled, gaussian = (_release(table, method) for method in ("plan", "unscaled", "gaussian"))
    print(f"""\
How do {len(table):,} people spend their day?
(They are made up; the truth is shown only because of that.)

    release = plandp.mean(table, bounds=(0, {MINUTES_A_DAY}), rho={RHO})

One row per person, one column per activity, minutes a day.
Public knowledge: a day has {MINUTES_A_DAY:,} minutes.
""")
    print(*_means(release, truth), sep="\n")
    print("\nThe same rho with other methods.")
    print("Error: the l2 distance to the true means, in minutes.\n")
    print(*_comparison([release, unscaled, gaussian], truth), sep="\n")
    print(f"\nWhat it cost, to be kept with the numbers (release.receipt):\n\n{release.receipt}\n")
    print("\n".join(f"Warning: {text}" for text in release.warnings) or "Warnings: none (release.warnings)")
    print(_picture(release, truth))


def _release(table: NDArray[np.float64], method: str) -> plandp.MeanRelease:
    return plandp.mean(_named(table), bounds=(0, MINUTES_A_DAY), rho=RHO, method=method)


def _named(table: NDArray[np.float64]) -> object:
    try:
        import pandas
    except ImportError:
        return table  # then picture and warnings say 0, 1, 2, … instead of names
    return pandas.DataFrame(table, columns=list(NAMES))


def _means(release: plandp.MeanRelease, truth: NDArray[np.float64]) -> list[str]:
    interval = release.interval(0.95)
    half_width = (interval.high - interval.low) / 2
    inside = (interval.low <= truth) & (truth <= interval.high)
    rows = [
        (name, f"{true:.2f}", f"{private:.2f}", f"± {half:.2f}", "" if covered else "outside")
        for name, true, private, half, covered in zip(NAMES, truth, release.estimate, half_width, inside, strict=True)
    ]
    return [
        *align([("minutes a day", "true mean", "private mean", "95% noise", ""), *rows]),
        f"\n{inside.sum()} of {len(truth)} true means lie inside their interval; {COVERAGE}",
    ]


def _comparison(releases: list[plandp.MeanRelease], truth: NDArray[np.float64]) -> list[str]:
    least = releases[0].forecast.error
    rows = [
        (
            release.receipt.method,
            f"{release.forecast.error:.2f}",
            f"{release.forecast.error / least:.1f} ×",
            f"{np.linalg.norm(release.estimate - truth):.2f}",
        )
        for release in releases
    ]
    return align([("method", "error forecast", "", "error here"), *rows])


def _picture(release: plandp.MeanRelease, truth: NDArray[np.float64]) -> str:
    try:
        drawn = svg_text(draw_release(release, truth=truth))
    except MissingExtra as missing:
        return f"Picture: none, since {missing}"
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(drawn, encoding="utf-8")
    return f"Picture: {PICTURE}"
