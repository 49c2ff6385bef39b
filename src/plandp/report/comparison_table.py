"""A comparison as a pandas table."""

from typing import TYPE_CHECKING

from plandp.errors import MissingExtra
from plandp.terms.comparison import Comparison

if TYPE_CHECKING:
    from pandas import DataFrame


def comparison_to_pandas(comparison: Comparison) -> "DataFrame":
    """Return one row per estimator, the recommended one first; what is not known is NaN."""
    try:
        import pandas
    except ImportError:
        raise MissingExtra("pandas", "pandas", "to_pandas") from None
    found = comparison.contenders
    rows = {
        "predicted_error": [contender.predicted_error for contender in found],
        "measured_error": [contender.measured_error for contender in found],
        "worst_error": [max(contender.measured_errors, default=None) for contender in found],
    }
    numbers = {name: pandas.Series(values, dtype="float64") for name, values in rows.items()}
    return pandas.DataFrame(
        {
            **numbers,
            "feasible": [contender.feasible for contender in found],
            "smallest_n": pandas.array([contender.smallest_n for contender in found], dtype="Int64"),
            "problems": ["; ".join(contender.problems) for contender in found],
        }
    ).set_index(pandas.Index([contender.method for contender in found], name="method"))
