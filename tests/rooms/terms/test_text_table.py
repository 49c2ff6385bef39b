"""Tables stay aligned on a terminal, and short numbers never say more than there is."""

import unicodedata
from fractions import Fraction

import pytest

from plandp.terms.text_table import align, display_width, show_fraction, show_label


def test_columns_are_aligned_by_places_on_a_terminal():
    rows = [("name", "n"), ("調査", "12"), ("ｶﾅ", "3"), ("e\u0301te\u0301", "4"), ("plain", "567")]
    lines = align(rows)
    # every letter counted by hand: two places for wide ones, none for accents on their own
    wide = {"調": 2, "査": 2, "\u0301": 0}
    assert {sum(wide.get(letter, 1) for letter in line) for line in lines} == {2 + 5 + 2 + 3}
    assert lines[1] == "  調査    12"


def test_wide_letters_of_every_kind_are_known():
    assert display_width("ＡＢ") == 4
    assert display_width("한글") == 4
    assert display_width("a\u200db") == 2
    assert display_width("né") == 2
    assert unicodedata.east_asian_width("調") == "W"


@pytest.mark.parametrize("label", ["調" * 30, "n" * 200, "e" + "\u0301" * 500, "a調" * 50])
def test_long_labels_are_cut_to_their_places(label):
    shown = show_label(label)
    assert shown.endswith("…")
    assert display_width(shown) <= 40
    assert len(shown) <= 40
    assert show_label("調" * 20) == "調" * 20


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Fraction(0), "0"),
        (Fraction(1, 8), "0.125"),
        (Fraction(1, 3), "0.333333…"),
        (Fraction(2, 3), "0.666666…"),
        (Fraction(381527, 10**7), "0.0381527"),
        (Fraction(1, 10**12), "1e-12"),
        (Fraction(1, 7 * 10**8), "1.42857e-9…"),
        (Fraction(10**6), "1000000"),
        (Fraction(1000001, 3), "333333…"),
        (Fraction(100), "100"),
    ],
)
def test_fractions_are_rounded_down_and_say_so(value, shown):
    assert show_fraction(value) == shown
    assert Fraction(shown.rstrip("…")) <= value
