"""A release as a table: for pandas, and as text for a terminal."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plandp.errors import MissingExtra
from plandp.terms.release import MeanRelease
from plandp.terms.shown import column_name, hidden_columns, is_moved, uncertainty_name
from plandp.terms.text_table import align, show_label

if TYPE_CHECKING:
    from pandas import DataFrame

_PLAIN = 1e15  # numbers from here on are written with exponents
_MOST_DECIMALS = 12
_MOST_COLUMNS = 1000
_MOST_ITEMS, _LARGEST = 40, 20  # up to so many items all of them are shown, else those with the largest means


def to_pandas(release: MeanRelease) -> "DataFrame":
    """Return one row per coordinate; low and high bound the noise at 95%, each coordinate on its own."""
    try:
        import pandas
    except ImportError:
        raise MissingExtra("pandas", "pandas", "to_pandas") from None
    interval = release.interval(0.95)
    columns = {"estimate": release.estimate}
    if release.error_std is not None and release.unrefined is not None:
        columns |= {"error_std": release.error_std, "unrefined": release.unrefined}
    columns |= {"noise_std": release.noise_std, "low": interval.low, "high": interval.high}
    return pandas.DataFrame(
        {name: values.copy() for name, values in columns.items()},
        index=pandas.Index(list(release.labels), name="label"),
    )


def release_text(release: MeanRelease, *, notes: Sequence[str] = ()) -> str:
    """Return columns with their estimates and noise, what to expect, notes, warnings and the receipt.

    Every column, up to a thousand of them; of items the largest where there are many.
    """
    shown = release.first_rows(_most_shown(release))
    filled_in = (release.center if release.missing is None else release.missing).tolist()[: len(shown)]
    rows = [
        (show_label(label), *show_estimate(estimate, uncertainty), show_estimate(value, uncertainty)[0])
        for (label, estimate, uncertainty), value in zip(shown, filled_in, strict=True)
    ]
    table = [(column_name(release), "estimate", uncertainty_name(release), "missing as"), *rows]
    hidden = hidden_columns(release, len(shown))
    forecast = release.forecast
    return "\n".join(
        [
            *align(table if release.kind == "real" else [row[:3] for row in table]),
            *([f"  {hidden}; all of them are in the JSON (--json, --out)"] if hidden else []),
            "",
            f"Error to expect: {forecast.error:.3g} (l{forecast.error_norm:g}), from {_in_two_lines(forecast.covers)}.",
            *_what_counted(release),
            *_what_was_refined(release),
            *notes,
            *(f"Warning: {text}" for text in release.warnings),
            "",
            str(release.receipt),
        ]
    )


def _most_shown(release: MeanRelease) -> int:
    if release.kind == "real":
        return _MOST_COLUMNS
    return _MOST_ITEMS if release.receipt.d <= _MOST_ITEMS else _LARGEST


def _what_counted(release: MeanRelease) -> tuple[str, ...]:
    if release.kind != "real":
        return ("What is not there counted as 0.",)
    return (
        f"Missing values counted as {_filled_in(release)}, in the last column.",
        "  Many of them pull the estimate there, which the noise interval does not cover.",
    )


def _what_was_refined(release: MeanRelease) -> tuple[str, ...]:
    if not is_moved(release):
        return ()
    return (
        f"Refined by {', '.join(release.refined)}.  Expected errors are root mean squares, clipping bias roughly",
        "  included.  noise_std in the JSON is about unrefined, the estimate before that.",
    )


def _in_two_lines(covers: str) -> str:
    return covers.replace("; ", ";\n  ")


def _filled_in(release: MeanRelease) -> str:
    return "the released centres" if release.missing is None else "the values asked for"


def show_estimate(estimate: float, half_width: float) -> tuple[str, str]:
    """Return both with the digits that the noise leaves sense in: down to the second digit of the half width."""
    if 0 < half_width < _PLAIN and abs(estimate) < _PLAIN:
        decimals = max(0, 1 - math.floor(math.log10(half_width)))
        if decimals <= _MOST_DECIMALS:
            return f"{estimate:z.{decimals}f}", f"{half_width:.{decimals}f}"
    return repr(estimate), f"{half_width:.2g}"
