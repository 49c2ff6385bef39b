"""The page a notebook shows: well-formed, complete, and safe whatever the columns are called."""

from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plandp.report.html import release_page

VOID = {"br"}


class Page(HTMLParser):
    """Collect the text, and fail when tags do not nest."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.tags = [], [], set()
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert all(name in {"style", "class"} for name, _ in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_the_page_holds_what_the_text_holds(release_of):
    release = release_of(estimate=np.array([1.5, -20.25, 1e-9]), warnings=("a & b",))
    page = Page(release._repr_html_())
    for text in (
        "c0",
        "1.5",
        "-20.25",
        "1e-09",
        "Warning: a & b",
        "spread bound",
        "65.0%",
        "1.889e+22",
        "2.0%",
    ):
        assert text in page.texts
    whole = "".join(page.texts)
    assert release.receipt.headline() in whole
    assert "Covers the noise of the final sum; not clipping bias, missing values or sampling error." in whole
    for fact in release.receipt.facts():
        assert fact in page.texts
    assert "INSECURE" not in whole


def test_an_insecure_release_says_so_at_the_top(release_of, receipt_of):
    text = release_page(release_of(receipt=receipt_of(insecure=True)))
    assert text.index("INSECURE: testing_seed was used") < text.index("<table>")


@pytest.mark.parametrize("attack", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a&amp;b", "</td>"])
def test_labels_warnings_and_versions_are_text_never_markup(release_of, receipt_of, attack):
    receipt = receipt_of(versions=((attack, attack),), sampler=attack, method=attack)
    page = Page(release_page(release_of(labels=(attack, "b", "c"), warnings=(attack,), receipt=receipt)))
    assert attack in page.texts
    assert f"Warning: {attack}" in page.texts
    assert page.tags <= {
        "div",
        "p",
        "strong",
        "br",
        "table",
        "tr",
        "th",
        "td",
        "small",
        "sub",
        "details",
        "summary",
    }


@given(st.lists(st.text(max_size=60), min_size=3, max_size=3))
def test_any_label_makes_a_page_that_can_be_sent(release_of, labels):
    text = release_page(release_of(labels=tuple(labels)))
    Page(text)
    text.encode("utf-8")


def test_a_lone_surrogate_in_a_label_can_be_sent_too(release_of):
    release_page(release_of(labels=("\ud800", "b", "c"))).encode("utf-8")


def test_a_wide_release_makes_a_short_page(release_of):
    text = release_page(release_of(d=5000))
    assert "… and 4980 more" in text
    assert len(text) < 10_000
    assert "more</p>" not in release_page(release_of(d=20))


def test_a_refined_release_shows_the_error_to_expect(refined_of):
    release = refined_of(estimate=np.array([0.25, 0.0, 0.5]), error_std=np.array([0.0125, 0.002, 0.1]))
    page = Page(release_page(release))
    for text in ("expected error", "0.25", "0.0125", "0.002"):
        assert text in page.texts
    assert "± 95% noise" not in page.texts
    assert any(text.startswith("refined by combine, shrink, clamp: ") for text in page.texts)
    assert not any(text.startswith("refined by") for text in Page(release_page(refined_of(refined=()))).texts)


def test_a_page_of_many_items_shows_the_largest(refined_of):
    release = refined_of(d=30_000, estimate=np.arange(30_000) / 30_000)
    page = Page(release_page(release))
    assert [text for text in page.texts if text.startswith("c29")] == [f"c{29_999 - place}" for place in range(20)]
    assert "… and 29980 more, none larger" in page.texts
    assert len(release_page(release)) < 10_000


def test_what_missing_values_counted_as_is_shown(release_of):
    assert "Missing values counted as the released centres." in release_page(release_of())
    assert "Missing values counted as 7." in release_page(release_of(missing=np.full(3, 7.0)))
    assert "counted as 7, 8, 9.5, in the order" in release_page(release_of(missing=np.array([7.0, 8.0, 9.5])))
    many = release_page(release_of(d=50, missing=np.arange(50.0)))
    assert "18, 19, …, in the order" in many
