"""A release as a pandas table."""

from typing import TYPE_CHECKING

from plandp.errors import MissingExtra
from plandp.terms.release import MeanRelease

if TYPE_CHECKING:
    from pandas import DataFrame


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
