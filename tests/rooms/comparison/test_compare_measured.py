"""`plandp.compare` on data that was declared public: real runs of `plandp.mean`, and of other libraries."""

import builtins
from fractions import Fraction

import numpy as np
import pytest

import plandp
from plandp.comparison.measured import _seed
from plandp.comparison.peers import PEERS, find_peer
from plandp.comparison.public_table import PublicTable
from plandp.terms.columns import read_columns

SPREAD = np.array([8.0, 2.0, 1.0])
TABLE = 40 + np.random.default_rng(5).normal(size=(3000, 3)) * SPREAD
ASKED = {"public_data": TABLE, "bounds": (0, 100), "rho": 0.5, "runs": 3}


def test_a_measured_error_is_that_of_a_release():
    comparison = plandp.compare(**ASKED, methods=["plan", "gaussian"], error_norm=1, error_scale=[1, 2, 4])
    for name in ("plan", "gaussian"):
        errors = [
            np.abs(
                (
                    plandp.mean(
                        TABLE,
                        bounds=(0, 100),
                        rho=0.5,
                        error_norm=1,
                        error_scale=[1, 2, 4],
                        method=name,
                        testing_seed=_seed(name, run),
                    ).estimate
                    - TABLE.mean(axis=0)
                )
                / [1, 2, 4]
            ).sum()
            for run in range(3)
        ]
        assert comparison[name].measured_errors == pytest.approx(errors)
        assert comparison[name].measured_error == pytest.approx(np.median(errors))
    assert comparison.runs == 3
    assert "NOT PRIVATE" in repr(comparison)


def test_ten_runs_when_left_out():
    comparison = plandp.compare(public_data=TABLE, bounds=(0, 100), rho=0.5, methods=["gaussian"])
    assert comparison.runs == len(comparison["gaussian"].measured_errors) == 10


def test_sizes_and_spreads_are_those_of_the_public_data():
    comparison = plandp.compare(**ASKED, methods=["gaussian"])
    assert (comparison.n, comparison.d) == TABLE.shape
    assert comparison.spread == pytest.approx(TABLE.std(axis=0))
    predicted = plandp.compare(
        n=3000, d=3, bounds=(0, 100), rho=0.5, methods=["gaussian"], spread_shape=TABLE.std(axis=0)
    )
    assert comparison["gaussian"].predicted_error == predicted["gaussian"].predicted_error
    other = plandp.compare(**ASKED, methods=["gaussian"], spread_shape="equal")
    assert other.spread.tolist() == [10.0] * 3


def test_the_table_may_be_a_frame_or_a_file_and_bounds_choose_columns(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TABLE, columns=["a", "b", "c"])
    frame.to_csv(tmp_path / "public.csv", index=False)
    asked = {"bounds": {"c": (0, 100), "a": (0, 100)}, "rho": 0.5, "runs": 2, "methods": ["plan"]}
    found = [plandp.compare(public_data=data, **asked) for data in (frame, tmp_path / "public.csv")]
    assert found[0]["plan"].measured_error == pytest.approx(found[1]["plan"].measured_error, rel=1e-6)
    assert found[0].spread == pytest.approx(TABLE.std(axis=0)[[0, 2]])


def test_missing_and_strange_values_and_the_caller_s_array():
    table = TABLE.copy()
    table[::10, 0] = np.nan
    table[5, 1] = np.inf
    table[:, 2] = np.nan
    kept = table.copy()
    comparison = plandp.compare(**{**ASKED, "public_data": table}, methods=["plan", "gaussian", "opendp"])
    np.testing.assert_array_equal(table, kept)
    errors = [contender.measured_error for contender in comparison.contenders]
    assert np.all(np.isfinite(errors))
    columns = read_columns(labels=range(3), bounds=(0, 100))
    public = PublicTable(values=table, labels=(0, 1, 2))
    assert public.mean(columns) == pytest.approx([np.nanmean(table[:, 0]), np.clip(table[:, 1], 0, 100).mean(), 50.0])


def test_a_progress_bar_over_the_runs(capsys):
    plandp.compare(**ASKED, methods=["gaussian"], progress=True)
    assert "runs" in capsys.readouterr().err
    plandp.compare(**ASKED, methods=["gaussian"])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("asked", "argument"),
    [
        ({"n": 3000}, "n"),
        ({"d": 3}, "d"),
        ({"public_data": TABLE[:0]}, "public_data"),
        ({"public_data": "there is no such file.csv"}, "public_data"),
        ({"public_data": object()}, "public_data"),
        ({"bounds": {"a": (0, 1)}}, "bounds"),
        ({"bounds": None}, "bounds"),
        ({"methods": ["best"]}, "methods"),
        ({"runs": 0}, "runs"),
    ],
)
def test_wrong_arguments_are_named(asked, argument):
    with pytest.raises(plandp.ArgumentError) as caught:
        plandp.compare(**{**ASKED, **asked})
    assert caught.value.argument == argument


def test_a_library_that_is_not_installed_is_left_out_with_a_message(monkeypatch):
    usual = builtins.__import__

    def without(name, *rest):
        if name.split(".")[0] in ("diffprivlib", "opendp"):
            raise ImportError(name)
        return usual(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    comparison = plandp.compare(**{**ASKED, "runs": 1})
    assert [text.split(";")[1] for text in comparison.skipped] == [" install it with: pip install 'plandp[peers]'"] * 2
    assert "left out: comparing with diffprivlib needs the package diffprivlib" in repr(comparison)
    for name in ("diffprivlib", "opendp"):
        with pytest.raises(plandp.MissingExtra, match=name):
            plandp.compare(**ASKED, methods=["plan", name])


# Standard deviation of one column's noise over width/n: Laplace has √2/ε, the Gaussian mechanism 1/√(2ρ/d).
NOISE = {"diffprivlib": 2**0.5 * (3 / (2 * 0.5)) ** 0.5, "opendp": (3 / (2 * 0.5)) ** 0.5}


@pytest.mark.parametrize("name", NOISE)
def test_other_libraries_spend_the_same_rho(name):
    """Their noise is what the stated budget says, neither more nor less.

    The standard deviation of 360 values is within 5 standard errors, 20% of Gaussian and 30% of Laplace noise, but for
    1e-6.  A budget that is not divided by d = 3 is 1.73 times off, ε² in place of ε²/2 is 1.41 times off.
    """
    pytest.importorskip(name if name == "opendp" else "diffprivlib.tools", exc_type=ImportError)
    columns = read_columns(labels=range(3), bounds=[(0, 100), (0, 100), (-50, 150)])
    peer = find_peer(name)
    assert peer in PEERS
    run = peer.prepare(TABLE[:500], columns, Fraction(1, 2))
    off = np.array([run(seed) for seed in range(120)]) - TABLE[:500].mean(axis=0)
    relative = float(np.sqrt(np.mean((off / (columns.width / 500)) ** 2))) / NOISE[name]
    assert abs(relative - 1) < (0.2 if name == "opendp" else 0.3)
