"""A release as a table: for pandas, and as text for a terminal."""

import math
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


def release_text(release: MeanRelease) -> str:
    """Return every column with its estimate and noise, what to expect, the warnings and the receipt."""
    rows = [
        (show_label(label), *show_estimate(estimate, half_width))
        for label, estimate, half_width in release.first_rows(release.receipt.d)
    ]
    forecast = release.forecast
    return "\n".join(
        [
            *align([("column", "estimate", "± 95% noise"), *rows]),
            "",
            f"Error to expect: {forecast.error:.3g} (l{forecast.error_norm:g}), from {forecast.covers}.",
            *(f"Warning: {text}" for text in release.warnings),
            "",
            str(release.receipt),
        ]
    )


def show_estimate(estimate: float, half_width: float) -> tuple[str, str]:
    """Return both with the digits that the noise leaves sense in: down to the second digit of the half width."""
    if 0 < half_width < _PLAIN and abs(estimate) < _PLAIN:
        decimals = max(0, 1 - math.floor(math.log10(half_width)))
        if decimals <= _MOST_DECIMALS:
            return f"{estimate:.{decimals}f}", f"{half_width:.{decimals}f}"
    return repr(estimate), f"{half_width:.2g}"
