"""Events instead of a table: which pages people visit, how often, and for how long.

Run: python examples/page_visits.py.  The people are invented, which is the only reason why true means are shown.
"""

import numpy as np
import pandas as pd

import plandp

rng = np.random.default_rng(3)
people = 30_000  # who have an account: public, and more than those who ever visit
pages = [f"/page/{place}" for place in range(200)]  # the site map: public

visitors = rng.integers(0, 25_000, 400_000)
visits = pd.DataFrame(
    {
        "user": pd.Series(visitors, dtype="Int64"),  # Int64 keeps ids exact where some are missing
        "page": np.array([*pages, "/gone"])[np.minimum(rng.geometric(0.03, len(visitors)) - 1, 200)],
        "seconds": rng.gamma(1.5, 40, len(visitors)),
    }
)
visits.loc[rng.random(len(visits)) < 0.01, "user"] = pd.NA  # visits without a login: they do not count

public = {"person": "user", "item": "page", "items": pages, "people": people}

# The share of people who visited each page.  All visits of one person together are protected.
reach = plandp.mean_of_events(visits, **public, rho=0.2)

# How often, and for how long: now it takes bounds.  More counts as the bound, so that nobody counts without limit.
often = plandp.mean_of_events(visits, **public, measure="count", bounds=(0, 20), rho=0.2)
long = plandp.mean_of_events(visits, **public, measure="seconds", bounds=(0, 3600), rho=0.2)

counted = visits.dropna(subset="user").groupby(["page", "user"])["seconds"].agg(["count", "sum"]).groupby("page")
truth = pd.DataFrame({"reach": counted.size(), "often": counted["count"].sum(), "seconds": counted["sum"].sum()})
truth = truth.reindex(pages) / people

shown = pd.DataFrame({"reach": reach.estimate, "often": often.estimate, "seconds": long.estimate}, index=pages)
shown = shown.join(truth.add_suffix("_true"))
print(shown.iloc[[0, 1, 2, 50, 100]].to_string(float_format="{:,.4f}".format))

# Three releases of the same people: what they cost adds up.
spent = sum(release.receipt.rho for release in (reach, often, long))
print(f"\nrho spent: {float(spent):.1f}, by {reach.receipt.n:,} people; privacy unit: {reach.receipt.privacy_unit}")
