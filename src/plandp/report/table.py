"""A release as a table: for pandas, and as text for a terminal."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plandp.errors import MissingExtra
from plandp.terms.release import MeanRelease
from plandp.terms.text_table import align, show_label

if TYPE_CHECKING:
    from pandas import DataFrame

_PLAIN = 1e15  # numbers from here on are written with exponents
_MOST_DECIMALS = 12


def to_pandas(release: MeanRelease) -> "DataFrame":
    """Return one row per coordinate; low and high bound the noise at 95%, each coordinate on its own."""
    try:
        import pandas
    except ImportError:
        raise MissingExtra("pandas", "pandas", "to_pandas") from None
    interval = release.interval(0.95)
    return pandas.DataFrame(
        {
            "estimate": release.estimate.copy(),
            "noise_std": release.noise_std.copy(),
            "low": interval.low.copy(),
            "high": interval.high.copy(),
        },
        index=pandas.Index(list(release.labels), name="label"),
    )


def release_text(release: MeanRelease, *, notes: Sequence[str] = ()) -> str:
    """Return every column with its estimate and noise, what to expect, notes, warnings and the receipt."""
    filled_in = (release.center if release.missing is None else release.missing).tolist()
    rows = [
        (show_label(label), *show_estimate(estimate, half_width), show_estimate(value, half_width)[0])
        for (label, estimate, half_width), value in zip(release.first_rows(release.receipt.d), filled_in, strict=True)
    ]
    table = [("column", "estimate", "± 95% noise", "missing as"), *rows]
    forecast = release.forecast
    return "\n".join(
        [
            *align(table if release.kind == "real" else [row[:3] for row in table]),
            "",
            f"Error to expect: {forecast.error:.3g} (l{forecast.error_norm:g}), from {_in_two_lines(forecast.covers)}.",
            *_what_counted(release),
            *notes,
            # A terminal has no attributes to look up.
            *(f"Warning: {text.replace('noise_std', 'the noise')}" for text in release.warnings),
            "",
            str(release.receipt),
        ]
    )


def _what_counted(release: MeanRelease) -> tuple[str, ...]:
    if release.kind != "real":
        return ("What is not there counted as 0.",)
    return (
        f"Missing values counted as {_filled_in(release)}, in the last column.",
        "  Many of them pull the estimate there, which the noise interval does not cover.",
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
            return f"{estimate:.{decimals}f}", f"{half_width:.{decimals}f}"
    return repr(estimate), f"{half_width:.2g}"
