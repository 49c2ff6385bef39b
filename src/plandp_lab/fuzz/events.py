"""Neighbouring tables of events: those of one person replaced by any others, of the same id or of a fresh one."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from plandp_lab.fuzz.arguments import budgets, with_strange
from plandp_lab.fuzz.tables import Neighbours
from plandp_lab.fuzz.values import SPECIAL_FLOATS, Draw, numbers, one_in, texts, valid_texts

ITEMS: list[Any] = ["home", "help", 7, "ä"]
Event = tuple[Any, Any, Any]

_ID_DTYPES = {
    "pandas": ("object", "str", "string", "category", "int64", "Int64", "uint8", "string[pyarrow]", "int64[pyarrow]"),
    "polars": ("String", "Categorical", "Int64", "UInt64", "Int128"),
    "arrow": ("string", "large_string", "string_view", "int64", "uint8", "dictionary"),
}
_WRONG_IDS = {
    "pandas": ("float64", "bool", "datetime64[ns]"),
    "polars": ("Float64", "Boolean", "Null"),
    "arrow": ("double", "bool", "null", "binary"),
}


def event_tables(draw: Draw) -> Neighbours:
    """Frames of pandas and polars and tables of Arrow."""
    container = draw(st.sampled_from(["pandas", "polars", "arrow"]))
    pool = (_WRONG_IDS if one_in(draw, 8) else _ID_DTYPES)[container]
    dtypes = draw(st.sampled_from(pool)), draw(st.sampled_from(_ID_DTYPES[container]))
    persons, items = (_ids(dtype) for dtype in dtypes)
    one, other = neighbours(draw, persons, items)
    made = _CONTAINERS[container]
    return Neighbours(made(one, dtypes), made(other, dtypes), ("user", "page", "amount"))


def neighbours(
    draw: Draw, persons: st.SearchStrategy[Any], items: st.SearchStrategy[Any]
) -> tuple[list[Event], list[Event]]:
    """Return events of several people, and the same with those of one person replaced, in any order."""
    values = st.one_of(st.sampled_from(SPECIAL_FLOATS), st.floats(-1, 10))
    who, fresh = draw(persons), draw(persons)
    others = [
        event
        for event in draw(st.lists(st.tuples(persons, items, values), max_size=12))
        if not _same(event[0], who, fresh)
    ]

    def with_events_of(person: Any) -> list[Event]:
        whole = others + [(person, *event) for event in draw(st.lists(st.tuples(items, values), max_size=5))]
        return draw(st.permutations(whole)) if draw(st.booleans()) else whole

    return with_events_of(who), with_events_of(draw(st.sampled_from([who, fresh])))


def event_arguments(draw: Draw) -> dict[str, Any]:
    """Return arguments of `plandp.mean_of_events`, right or nearly so."""
    measure = draw(st.sampled_from(["presence", "count", "amount"]))
    arguments = budgets(draw) | {
        "person": "user",
        "item": "page",
        "items": ITEMS[: draw(st.integers(1, 4))],
        "people": draw(st.sampled_from([1, 2, 3, 5, 20, 1000])),
        "measure": measure,
        "testing_seed": 5,
    }
    if measure != "presence" or draw(st.booleans()):
        arguments["bounds"] = (0, 1) if measure == "presence" else draw(st.sampled_from([(0, 5), (0, 1), (0, 1e9)]))
    if one_in(draw, 5):
        arguments["refine"] = draw(st.sampled_from([(), ["shrink"], ["clamp", "combine"]]))
    return with_strange(
        draw,
        arguments,
        (
            "person",
            "item",
            "items",
            "people",
            "measure",
            "bounds",
            "rho",
            "epsilon",
            "delta",
            "error_norm",
            "error_scale",
            "refine",
            "sampler",
            "testing_seed",
        ),
    )


def _same(person: Any, who: Any, fresh: Any) -> bool:
    """Whether an id could be that of the person who changes; ids are compared as texts."""
    return str(person) in (str(who), str(fresh))


def _ids(dtype: str) -> st.SearchStrategy[Any]:
    lower = dtype.lower()
    listed = st.sampled_from(["home", "help", "7", "ä", "u1", "u2", "u3", ""])
    if lower == "object":
        return st.one_of(
            listed, texts, numbers, st.sampled_from([np.int64(7), np.timedelta64(1, "s"), b"7", (1,), np.str_("7")])
        )
    if lower == "uint8":
        return st.integers(0, 255)
    if "int" in lower:
        small = st.one_of(
            st.integers(0, 9), st.sampled_from([2**62, 48151623421337] if "128" not in lower else [2**100])
        )
        return st.one_of(small, st.none()) if dtype != lower or "[" in dtype else small
    if lower in ("float64", "double"):
        return st.floats()
    if lower in ("boolean", "bool"):
        return st.booleans()
    if lower.startswith("datetime"):
        return st.integers(0, 10**15)
    if lower == "null":
        return st.none()
    if lower == "binary":
        return st.binary(max_size=3)
    return st.one_of(listed, valid_texts, st.none())


def _pandas(events: list[Event], dtypes: tuple[str, str]) -> Any:
    import pandas

    user, page, amount = _columns(events)
    return pandas.DataFrame(
        {
            "user": pandas.Series(user, dtype=_pandas_dtype(dtypes[0], user)),
            "page": pandas.Series(page, dtype=_pandas_dtype(dtypes[1], page)),
            "amount": pandas.Series(amount, dtype="float64"),
        }
    )


def _pandas_dtype(dtype: str, cells: list[Any]) -> Any:
    """Return the dtype; that of categories is public like others, and so must not follow from the cells."""
    import pandas

    if dtype != "category":
        return dtype
    return pandas.CategoricalDtype(pandas.Index(sorted({cell for cell in cells if cell is not None}), dtype="str"))


def _polars(events: list[Event], dtypes: tuple[str, str]) -> Any:
    import polars

    user, page, amount = _columns(events)
    return polars.DataFrame(
        [
            polars.Series("user", user, dtype=getattr(polars, dtypes[0]), strict=False),
            polars.Series("page", page, dtype=getattr(polars, dtypes[1]), strict=False),
            polars.Series("amount", amount, dtype=polars.Float64),
        ]
    )


def arrow_events(events: list[Event], dtypes: tuple[str, str]) -> Any:
    """Return events as an Arrow table; ids have these types."""
    import pyarrow  # type: ignore[import-untyped]  # pyarrow ships no types

    user, page, amount = _columns(events)
    types = [
        pyarrow.dictionary(pyarrow.int16(), pyarrow.string()) if name == "dictionary" else pyarrow.type_for_alias(name)
        if name != "string_view" else pyarrow.string_view()
        for name in dtypes
    ]  # fmt: skip
    return pyarrow.table(
        {
            "user": pyarrow.array(user, type=types[0]),
            "page": pyarrow.array(page, type=types[1]),
            "amount": pyarrow.array(amount, type=pyarrow.float64()),
        }
    )


def _columns(events: list[Event]) -> list[list[Any]]:
    return [[event[place] for event in events] for place in range(3)]


_CONTAINERS = {"pandas": _pandas, "polars": _polars, "arrow": arrow_events}
