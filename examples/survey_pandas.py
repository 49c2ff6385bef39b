"""A survey in pandas: mixed units, missing answers, and a mean among those who answered.

Run: python examples/survey_pandas.py.  The people are invented, which is the only reason why true means are shown.
"""

import numpy as np
import pandas as pd

import plandp

rng = np.random.default_rng(1)
n = 20_000
people = pd.DataFrame(
    {
        "age": rng.integers(18, 95, n),
        "income": rng.lognormal(10.3, 0.5, n),
        "satisfaction": rng.integers(1, 6, n),
        "owns_car": rng.random(n) < 0.7,
    }
)
people.loc[rng.random(n) < 0.2, "income"] = np.nan  # one in five does not tell

# "Mean income of those who told it" is a ratio of two means over all rows: both go into the release.  Whatever is done
# row by row, from that row alone, is fine; anything that looks at other rows (a median to fill in) would be a leak.
table = people.assign(income_told=people["income"].notna(), income=people["income"].fillna(0))

release = plandp.mean(
    table,
    # From general knowledge, never from people.describe().
    bounds={
        "age": (0, 120),
        "income": (0, 1_000_000),
        "satisfaction": (1, 5),
        "owns_car": (0, 1),
        "income_told": (0, 1),
    },
    # Raw units would let the income take it all: one dollar would weigh as much as one year.
    error_scale="bounds",
    epsilon=1,
    delta=1e-7,  # far below 1 / n
)

shown = release.to_pandas()
shown["truth"] = table.mean()
print(shown[["estimate", "low", "high", "truth"]].to_string(float_format="{:,.3f}".format))

# Arithmetic with released numbers costs nothing.
released = shown["estimate"]
income_of_those_who_told = released["income"] / released["income_told"]
print(f"\nincome of those who told it: {income_of_those_who_told:,.0f}  (true: {people['income'].mean():,.0f})")
print(release.receipt.headline())
