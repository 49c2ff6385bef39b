"""Whole releases of neighbouring tables of events: no query moves further than it states, whatever one person did."""

from fractions import Fraction
from typing import Any

import numpy as np
import pandas
import pytest
from neighbouring import RecordingDoor, furthest, moved

from plandp.data.events import open_events
from plandp.planner.sparse_split import sparse_design
from plandp.sparse_algorithm import sparse_plan_mean
from plandp.terms.columns import read_columns

ITEMS = [f"i{place}" for place in range(40)]
PEOPLE = 60
RHO = Fraction(2)


def events(people: range, seed: int) -> pandas.DataFrame:
    """A few events each, of items that are popular, rare, unknown or missing."""
    rng = np.random.default_rng(seed)
    count = 5 * len(people)
    names = np.array([*ITEMS, "unknown", None], dtype=object)
    return pandas.DataFrame(
        {
            "user": pandas.Series(rng.choice(np.array(people), count), dtype=object),
            "page": names[np.minimum(rng.geometric(0.1, count) - 1, len(ITEMS) + 1)],
            "time": rng.gamma(1.0, 3.0, count),
        }
    )


def of_one(user: object, pages: list[Any], times: float = 1.0) -> pandas.DataFrame:
    return pandas.DataFrame(
        {
            "user": pandas.Series([user] * len(pages), dtype=object),
            "page": pandas.Series(pages, dtype=object),
            "time": pandas.Series([times] * len(pages), dtype=float),
        }
    )


CHANGES = {
    "nothing": lambda user: of_one(user, []),
    "one item": lambda user: of_one(user, ITEMS[:1]),
    "a rare item": lambda user: of_one(user, ITEMS[-1:]),
    "all items": lambda user: of_one(user, ITEMS),
    "all items without end": lambda user: of_one(user, ITEMS * 1000, 1e300),
    "infinite": lambda user: of_one(user, ITEMS[:3], float("inf")),
    "tiny": lambda user: of_one(user, ITEMS, 5e-324),
    "NaN": lambda user: of_one(user, ITEMS, float("nan")),
    "unknown items": lambda user: of_one(user, ["unknown"] * 5),
}


@pytest.mark.parametrize("ids", [range(50), range(100)], ids=["fewer ids", "more ids"])
@pytest.mark.parametrize("measure", ["presence", "count", "time"])
def test_no_query_of_a_release_of_events_goes_further(measure: str, ids: range) -> None:
    binary = measure == "presence"
    columns = read_columns(labels=ITEMS, bounds=(0, 1) if binary else (0, 20))
    design = sparse_design(
        n=PEOPLE,
        columns=columns,
        rho=RHO,
        error_norm=1.0,
        binary=binary,
        refine=frozenset({"combine", "shrink", "clamp"}),
    )

    def run(table: object, door: RecordingDoor) -> None:
        rows = open_events(table, person="user", item="page", items=ITEMS, people=PEOPLE, measure=measure)
        sparse_plan_mean(rows, design, door)  # type: ignore[arg-type]  # a door that records, not the metered one

    others = events(ids, 1)
    reached = Fraction(0)
    for before, after in [("nothing", name) for name in CHANGES] + [
        ("one item", "all items without end"),
        ("infinite", "a rare item"),
    ]:
        # the same id, and fresh ones at several places of the public order
        for fresh in ("x", "y", "z"):
            ratios = furthest(
                moved(
                    run,
                    pandas.concat([others, CHANGES[before]("x")], ignore_index=True),
                    pandas.concat([CHANGES[after](fresh), others.sample(frac=1, random_state=2)], ignore_index=True),
                )
            )
            assert max(ratios.values()) <= 1, ratios
            reached = max(reached, *ratios.values())
    assert reached > Fraction(1, 10)  # or nothing was attacked
