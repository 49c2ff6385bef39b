"""The tables of a release: for pandas, and as text."""

import sys

import numpy as np
import pytest

from plandp.errors import MissingExtra
from plandp.report.table import release_text, show_estimate
from plandp.terms.receipt import INSECURE_NOTICE


def test_one_row_per_column_with_its_own_interval(release_of):
    pytest.importorskip("pandas")
    release = release_of(labels=("age", 7, "λ"))
    table = release.to_pandas()
    assert list(table.index) == ["age", 7, "λ"]
    assert list(table.columns) == ["estimate", "noise_std", "low", "high"]
    interval = release.interval(0.95)
    for name, values in {
        "estimate": release.estimate,
        "noise_std": release.noise_std,
        "low": interval.low,
        "high": interval.high,
    }.items():
        assert table[name].dtype == np.float64
        assert table[name].tolist() == values.tolist()


def test_editing_the_table_leaves_the_release_alone(release_of):
    pytest.importorskip("pandas")
    release = release_of()
    before = release.to_json()
    table = release.to_pandas()
    table.loc["c0", "estimate"] = 1e9
    table.iloc[:, :] = 0
    assert release.to_json() == before


def test_without_pandas_the_extra_is_named(release_of, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"plandp\[pandas\]") as refusal:
        release_of().to_pandas()
    assert refusal.value.__cause__ is None


@pytest.mark.parametrize(
    ("estimate", "half_width", "shown"),
    [
        (41.06942, 0.0566, ("41.069", "0.057")),
        (33800.63, 192.1, ("33801", "192")),
        (-1234567.891, 0.00123, ("-1234567.8910", "0.0012")),
        (0.0, 1.0, ("0.0", "1.0")),
        (1e-20, 5e-13, ("1e-20", "5e-13")),
        (-0.3, 101.0, ("0", "101")),
        (1e300, 1e280, ("1e+300", "1e+280")),
        (3.25, 0.0, ("3.25", "0")),
        (float("inf"), float("inf"), ("inf", "inf")),
        (1.0, float("nan"), ("1.0", "nan")),
    ],
)
def test_digits_are_shown_as_far_as_the_noise_leaves_sense_in_them(estimate, half_width, shown):
    assert show_estimate(estimate, half_width) == shown


def test_the_text_shows_every_column_the_warnings_and_the_receipt(release_of, receipt_of):
    release = release_of(
        d=60,
        receipt=receipt_of(d=60, insecure=True),
        warnings=("look twice, more than the noise says",),
        labels=("two\nlines", *range(59)),
    )
    text = release_text(release)
    assert "two\\nlines" in text
    assert [line.split()[0] for line in text.splitlines()[2:61]] == [str(place) for place in range(59)]
    assert "Warning: look twice, more than the noise says" in text
    assert INSECURE_NOTICE in text
    assert text.endswith(str(release.receipt))


def test_the_text_shows_what_missing_values_counted_as_with_the_digits_of_the_estimate(release_of):
    noise = np.full(3, 0.01)
    centres = release_text(release_of(center=np.array([1.23456, -2.0, 0.0]), noise_std=noise)).splitlines()
    assert [line.split()[-1] for line in centres[1:4]] == ["1.235", "-2.000", "0.000"]
    assert "Missing values counted as the released centres, in the last column." in centres
    values = release_text(release_of(missing=np.array([7.0, 8.0, 9.5]), noise_std=noise)).splitlines()
    assert [line.split()[-1] for line in values[1:4]] == ["7.000", "8.000", "9.500"]
    assert "Missing values counted as the values asked for, in the last column." in values


def test_notes_stand_between_table_and_warnings(release_of):
    text = release_text(release_of(warnings=("look twice",)), notes=["Note one.", "Note two."])
    assert (
        text.index("Missing values") < text.index("Note one.\nNote two.\nWarning: look twice") < text.index("Receipt")
    )


# ---- refined releases


def test_the_frame_of_a_refined_release_says_what_the_interval_is_about(refined_of):
    pytest.importorskip("pandas")
    release = refined_of()
    table = release.to_pandas()
    assert list(table.columns) == ["estimate", "error_std", "unrefined", "noise_std", "low", "high"]
    for name in ("estimate", "error_std", "unrefined", "noise_std"):
        assert table[name].tolist() == getattr(release, name).tolist()
    np.testing.assert_allclose((table["low"] + table["high"]) / 2, release.unrefined)
    table.iloc[:, :] = 0
    assert release == refined_of()


def test_the_text_of_items_has_expected_errors_and_no_missing_values(refined_of):
    release = refined_of(estimate=np.array([0.25, 0.0, 0.5]), error_std=np.array([0.01, 0.002, 0.1]))
    lines = release_text(release).splitlines()
    assert lines[:4] == [
        "  item  estimate  expected error",
        "  c0       0.250           0.010",
        "  c1      0.0000          0.0020",
        "  c2        0.50            0.10",
    ]
    assert "What is not there counted as 0." in lines
    place = lines.index(
        "Refined by combine, shrink, clamp.  Expected errors are root mean squares, clipping bias roughly"
    )
    assert lines[place + 1].endswith("included.  noise_std in the JSON is about unrefined, the estimate before that.")
    assert "Missing" not in "".join(lines)


def test_the_text_of_items_that_were_not_moved_has_their_interval(refined_of):
    text = release_text(refined_of(refined=("combine",), noise_std=np.full(3, 0.5)))
    assert text.splitlines()[0].split() == ["item", "estimate", "±", "95%"]
    assert text.splitlines()[1].split()[-1] == "0.98"
    assert "Refined" not in text


@pytest.mark.parametrize(("d", "shown"), [(40, 40), (41, 20), (30_000, 20)])
def test_all_of_few_items_and_the_largest_of_many(refined_of, d, shown):
    release = refined_of(d=d)
    lines = release_text(release).splitlines()
    labels = [line.split()[0] for line in lines[1 : shown + 1]]
    if shown == d:
        assert labels == list(release.labels)
        assert lines[shown + 1] == ""
    else:
        assert labels == [release.labels[place] for place in np.argsort(-release.estimate, kind="stable")[:shown]]
        assert lines[shown + 1] == (
            f"  … and {d - shown} more, none larger; all of them are in the JSON (--json, --out)"
        )
    assert len(lines) < 65


def test_a_thousand_columns_are_shown_and_no_more(release_of):
    for d, hidden in ((1000, 0), (30_000, 29_000)):
        lines = release_text(release_of(d=d)).splitlines()
        assert [line.split()[0] for line in lines[1:1001]] == [f"c{place}" for place in range(1000)]
        assert lines[1001] == (f"  … and {hidden} more; all of them are in the JSON (--json, --out)" if hidden else "")
