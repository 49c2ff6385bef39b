"""Releases and receipts as text: changed in any place, they are read as releases or refused, never more."""

import json
from functools import cache, partial
from typing import Any

import numpy as np
from hypothesis import strategies as st

import plandp
from plandp_lab.fuzz.files import damage
from plandp_lab.fuzz.values import Draw, one_in
from plandp_lab.fuzz.watch import watched

_STRANGE_JSON: list[Any] = [
    None, True, False, 0, 1, -1, 7, 10**30, 10**400, 0.5, -0.0, 1e308, "", "x", "nan", "inf", "-inf", "1/8", "1/0",
    "0/1",
    "-1/8", "1", "1/8/9", "9" * 5000 + "/1", "1" + "0" * 400 + "/1", "1/1" + "0" * 400, [], {}, [[]], [None], [0, 1],
    [[0, 1]],
    [[1, 0]], [[0, "inf"]], ["a", "b"], {"a": 1}, "real", "binary", "plan", [["plandp", "0"]], ["shrink"], "\ud800",
    "\x00",
    "<script>alert(1)</script>", "a" * 3000, 1e400, -1e400,
]  # fmt: skip


@cache
def kept_releases() -> tuple[str, ...]:
    """Return releases of every kind as JSON."""
    table = np.linspace([0.0, 5.0, 2.0], [9.0, 1.0, 2.0], 30)
    import pandas

    events = pandas.DataFrame({"user": [1, 1, 2, 3], "page": ["a", "b", "a", "c"]})
    return tuple(
        release.to_json()
        for release in (
            plandp.mean(table, bounds=(0, 10), rho=1, testing_seed=1),
            plandp.mean(table[:, :1], bounds=(0, 10), rho="1/8", method="gaussian"),
            plandp.mean(table, bounds=(0, 10), rho=30, missing=1, method="unscaled", error_norm=3),
            plandp.mean(table, kind="binary", rho=1),
            plandp.mean(table, kind="nonnegative", bounds=(0, 10), epsilon=1, delta=0.5, refine=()),
            plandp.mean_of_events(events, person="user", item="page", items=["a", "b", 7], people=5, rho=1),
        )
    )


def releases(draw: Draw) -> str:
    """Read a changed release, and show whatever was read in every way."""
    text = changed_release(draw)
    return watched(partial(_shown, text, one_in(draw, 300))).kind


def receipts(draw: Draw) -> str:
    """Read a changed receipt, and show whatever was read."""
    values = json.loads(draw(st.sampled_from(kept_releases())))["receipt"]
    for _ in range(draw(st.integers(1, 2))):
        values = _changed(draw, values)
    return watched(lambda: _receipt_shown(values)).kind


def changed_release(draw: Draw) -> str:
    """Return the text of a release, changed in one or a few places."""
    text = draw(st.sampled_from(kept_releases()))
    way = draw(st.integers(0, 9))
    if way == 0:
        return str(draw(st.one_of(st.text(max_size=50), st.just("[" * 100_000), st.just('{"schema":' * 5000))))
    if way <= 2:
        return str(draw(damage(text.encode())).decode("utf-8", "replace"))
    values = json.loads(text)
    for _ in range(draw(st.integers(1, 2))):
        values = _changed(draw, values)
    return json.dumps(values)


def _changed(draw: Draw, values: Any) -> Any:
    """Return JSON-ready values with one of them, at any depth, replaced, taken out or doubled."""
    if isinstance(values, dict | list) and values and not one_in(draw, 10):
        keys = sorted(values) if isinstance(values, dict) else list(range(len(values)))
        key = draw(st.sampled_from(keys))
        new = dict(values) if isinstance(values, dict) else list(values)
        if one_in(draw, 10):
            del new[key]
        elif isinstance(new, list) and one_in(draw, 10):
            new.append(new[key])
        else:
            new[key] = _changed(draw, values[key])
        return new
    return draw(st.one_of(st.sampled_from(_STRANGE_JSON), st.integers(), st.floats(), st.text(max_size=5)))


def _shown(text: str, draw_it: bool) -> str:
    release = plandp.MeanRelease.from_json(text)
    again = plandp.MeanRelease.from_json(release.to_json())
    if again.to_json() != release.to_json():
        raise AssertionError("a release that was read is written differently")
    repr(release)
    release._repr_html_()
    release.interval(0.5, simultaneous=True)
    release.to_pandas()
    repr(release.receipt)
    if draw_it:
        release.plot()
    return "read"


def _receipt_shown(values: Any) -> str:
    receipt = plandp.Receipt.from_dict(values)
    if plandp.Receipt.from_dict(json.loads(json.dumps(receipt.to_dict()))) != receipt:
        raise AssertionError("a receipt that was read is written differently")
    repr(receipt)
    receipt.epsilon(1e-6)
    return "read"
