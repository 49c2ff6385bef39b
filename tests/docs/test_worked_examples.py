"""The worked examples run, print readable tables, and their numbers are right.

The noise is secure in the examples and the same on every run here.  Tolerances are many times the noise, so that the
tests say whether an example still shows what it claims, not how the dice fell.
"""

import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_documents import ROOT, repeatable_bits  # noqa: F401  # a fixture

EXAMPLES = ROOT / "examples"


class Ran:
    """What a script left behind: its names and what it printed."""

    def __init__(self, names: dict[str, Any], printed: str) -> None:
        self.names = names
        self.printed = printed

    def __getitem__(self, name: str) -> Any:
        return self.names[name]


@pytest.fixture
def ran(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ran:
    request.getfixturevalue("repeatable_bits")
    names = runpy.run_path(str(EXAMPLES / f"{request.param}.py"), run_name="__main__")
    printed = capsys.readouterr()
    assert printed.err == ""
    assert max(map(len, printed.out.splitlines())) < 220
    return Ran(names, printed.out)


def example(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("ran", [name], indirect=True)


@example("survey_pandas")
def test_the_survey(ran: Ran) -> None:
    shown, truth = ran["shown"], ran["shown"]["truth"]
    allowed = {"age": 1, "income": 1500, "satisfaction": 0.05, "owns_car": 0.02, "income_told": 0.02}
    for name, distance in allowed.items():
        assert abs(shown.loc[name, "estimate"] - truth[name]) < distance, name
        assert shown.loc[name, "low"] < shown.loc[name, "estimate"] < shown.loc[name, "high"]
    told = ran["people"]["income"].mean()
    assert abs(ran["income_of_those_who_told"] - told) < 2000
    # Power: dividing by nothing, the mistake that the example warns of, is off by a fifth.
    assert abs(shown.loc["income", "estimate"] - told) > 4000
    assert ran["release"].receipt.epsilon(1e-7) <= 1


@example("telemetry_parquet")
def test_the_telemetry(ran: Ran) -> None:
    release, truth = ran["release"], ran["truth"]
    assert release.receipt.n == ran["devices"]  # the row is the device, not the event
    assert len(ran["raw"]) > 10 * ran["devices"]
    allowed = {"latency_ms_mean": 0.5, "battery_mean": 0.5, "foreground_mean": 0.01, "device_count": 0.5}
    assert release.labels == tuple(allowed)
    for name, estimate in zip(release.labels, release.estimate, strict=True):
        assert abs(estimate - truth[name]) < allowed[name], name


@example("page_visits")
def test_the_page_visits(ran: Ran) -> None:
    shown, people = ran["shown"], ran["people"]
    assert len(shown) == 200
    assert ran["visits"]["user"].nunique() < people  # somebody never came, and counts
    for name, farthest in (("reach", 0.01), ("often", 0.01), ("seconds", 1.5)):
        distance = (shown[name] - shown[f"{name}_true"]).abs()
        assert distance.median() < farthest / 10, name
        assert distance.max() < farthest, name
        # Power: to divide by those who came, in place of all people, would be off by a fifth.
        assert shown[f"{name}_true"].iloc[0] / 5 > 2 * farthest, name
    assert {ran[name].receipt.n for name in ("reach", "often", "long")} == {people}
    assert "privacy unit: person" in ran.printed


@example("baskets_scipy")
def test_the_baskets(ran: Ran) -> None:
    share, share_true, pieces_true = ran["share"], ran["share_true"], ran["pieces_true"]
    popular = [label for label, _, _ in share.first_rows(5)]
    assert set(popular) <= set(range(7))
    for product in popular:
        assert abs(share.estimate[product] / share_true[product] - 1) < 0.05
    # Power: to count pieces in place of people would be off by more.
    assert pieces_true[0] / share_true[0] - 1 > 0.07
    assert ran["error"] < 1.3 * share.forecast.error
    assert ran["error"] < 0.9 * ran["unrefined_error"]  # what the example says that refining is for
    np.testing.assert_allclose(ran["category_released"], ran["category_true"], rtol=0.06, atol=0.05)
    # Power: so much more the shrunken means, which the example warns of, are off in the long tail.
    shrunken = np.bincount(ran["category"], ran["pieces"].estimate)
    assert np.mean(np.abs(shrunken - ran["category_true"])[3:]) > 2 * np.mean(
        np.abs(ran["category_released"] - ran["category_true"])[3:]
    )
    assert ran["bought"].nnz > ran["bought"].tocsr().nnz  # somebody bought twice
    assert "rho spent: 0.5, on 30,000 rows" in ran.printed


@example("class_centroids")
def test_the_centroids(ran: Ran) -> None:
    for found, farthest in ((ran["public"], 0.02), (ran["secret"], 0.1)):
        assert found.shape == (3, 16)
        assert np.linalg.norm(found - ran["truth"], axis=1).max() < farthest
    assert "rho = 0.1 for each person" in ran.printed


def test_a_secret_class_is_paid_for_in_one_release_of_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What makes the example right: with secret classes no release may depend on who is in which class but by a row."""
    import plandp

    real, seen = plandp.mean, []

    def watched(data: np.ndarray, **arguments: Any) -> Any:
        seen.append((data, arguments))
        return real(data, **arguments)

    monkeypatch.setattr(plandp, "mean", watched)
    names = runpy.run_path(str(EXAMPLES / "class_centroids.py"), run_name="__main__")
    *public, (table, arguments) = seen
    # Public classes: three tables that share no person, rho each.
    assert sum(len(data) for data, _ in public) == names["n"]
    assert [given["rho"] for _, given in public] == [names["rho"]] * 3
    # Secret classes: one table, rho once; each row made from its own person alone, all of it within the bounds.
    assert len(table) == names["n"]
    assert arguments["rho"] == names["rho"]
    d, place = names["d"], 17
    member = np.eye(3)[names["classes"][place]]
    np.testing.assert_array_equal(table[place], [*np.outer(member, names["embeddings"][place]).ravel(), *member])
    low, high = np.array(arguments["bounds"]).T
    assert table.shape[1] == 3 * d + 3
    assert np.all((low <= table) & (table <= high))


@example("choosing_bounds")
def test_choosing_bounds(ran: Ran) -> None:
    errors = ran["errors"]
    assert errors["too tight", "plan"] > 20
    for word in ("sensible", "generous", "careless"):
        assert errors[word, "plan"] < 0.5
    assert errors["careless", "gaussian"] > 100
    assert "commute.max()" in Path(EXAMPLES / "choosing_bounds.py").read_text()


@example("choosing_rho")
def test_choosing_rho(ran: Ran) -> None:
    outlooks, chosen = ran["outlooks"], ran["chosen"]
    assert [outlook.feasible for outlook in outlooks.values()] == [False, True, True, True, True, True]
    errors = [outlook.error for outlook in outlooks.values()]
    assert errors == sorted(errors, reverse=True)
    assert outlooks[chosen].error < outlooks[chosen].sampling_error
    assert ran["release"].receipt.rho == outlooks[chosen].rho
    # The l2 error of 12 columns lies within 2.5 times its median with probability over .999, and the bits are fixed.
    assert ran["error"] < 2.5 * outlooks[chosen].error


@example("reading_a_receipt")
def test_reading_a_receipt(ran: Ran) -> None:
    assert str(ran["total"]) == "1/5"
    assert list(ran["epsilons"].values()) == sorted(ran["epsilons"].values())
    assert 2.1 < ran["epsilons"][1e-6] < 2.2
    assert ran.printed.endswith("equal to the last bit: True\n")
    for step in ran["receipt"].steps():
        assert step.step.split()[0] in ran.printed.split("rho is exact")[1]


@example("what_warnings_mean")
def test_what_the_warnings_mean(ran: Ran) -> None:
    first_words = {name: [text[:30] for text in release.warnings] for name, release in ran["cases"].items()}
    assert first_words["healthy"] == []
    assert first_words["far too few rows"] == ["too few rows to find the centr"]
    assert first_words["too few rows"] == ["too few rows to find the sprea"]
    assert [text.startswith("only 7") for text in first_words["few rows, known spread"]] == [True]
    assert "the rows have heavy tails (clip"[:30] in first_words["heavy tails"]
    assert first_words["heavy tails, logarithm"] == []
    assert any(text.startswith("the clipping radius lies at") for text in first_words["wrong public spread"])
    assert ran["off"].max() > 3  # the claim that clipping, not noise, is the larger error there


def test_no_example_is_seeded_and_all_are_in_the_index_and_the_guide() -> None:
    index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    for script in EXAMPLES.glob("*.py"):
        assert "testing_seed" not in script.read_text(encoding="utf-8"), script.name
        assert f"[{script.name}]({script.name})" in index
        assert f"](../examples/{script.name})" in guide, script.name
    for target in re.findall(r"\]\(([^)]+)\)", index):
        assert (EXAMPLES / target).exists(), target
    assert "](examples/README.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
