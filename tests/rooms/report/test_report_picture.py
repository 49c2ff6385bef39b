"""The picture of a release: every number that it shows is read back from its axes."""

import logging
import sys

import numpy as np
import pytest

from plandp.errors import ArgumentError, MissingExtra
from plandp.report.estimate_panel import MOST_BINS
from plandp.report.lettering import Lettering, lettering_for, with_noise
from plandp.report.picture import draw_release, svg_text
from plandp.terms.receipt import Receipt

pytest.importorskip("matplotlib")

Z = 1.959963984540054  # of a 95% interval


def titles(figure):
    return [axes.get_title(loc="left").split(",")[0] for axes in figure.axes]


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def line(axes, label):
    return next(found for found in axes.get_lines() if found.get_label() == label)


def written(axes):
    return [text.get_text() for text in axes.texts]


def test_a_panel_each_for_estimates_budget_and_noise(release_of):
    assert titles(release_of().plot()) == ["Estimates", "Where the budget went", "Noise against spread"]
    assert titles(draw_release(release_of(spread=None))) == [
        "Estimates",
        "Where the budget went",
        "Noise beside the bounds",
    ]
    assert titles(draw_release(release_of(d=41))) == [
        "Estimates",
        "",
        "Where the budget went",
        "Noise against spread",
    ]


@pytest.mark.parametrize("d", [1, 5, 40])
def test_few_columns_have_a_line_each_with_name_interval_and_numbers(release_of, d):
    release = release_of(d=d)
    axes = draw_release(release).axes[0]
    assert legend(axes) == ["95% interval of the noise", "estimate"]
    dots = line(axes, "estimate")
    assert dots.get_xdata().tolist() == release.estimate.tolist()
    assert dots.get_ydata().tolist() == list(range(d))
    bars = np.array(axes.collections[0].get_segments())
    np.testing.assert_array_equal(bars[:, 0, 1], np.arange(d))
    np.testing.assert_allclose(bars[:, 0, 0], release.estimate - Z * release.noise_std)
    np.testing.assert_allclose(bars[:, 1, 0], release.estimate + Z * release.noise_std)
    assert [tick.get_text() for tick in axes.get_yticklabels()] == list(release.labels)
    heading, *numbers = written(axes)
    assert heading == "estimate ± 95%"
    for shown, estimate, std in zip(numbers, release.estimate, release.noise_std, strict=True):
        middle, half_width = (float(part.replace("−", "-")) for part in shown.split(" ± "))
        assert half_width == pytest.approx(Z * std, rel=0.05)
        assert abs(middle - estimate) < 0.06 * Z * std


@pytest.mark.parametrize("d", [5, 40])
def test_few_refined_items_have_the_error_to_expect_around_them(refined_of, d):
    release = refined_of(d=d)
    axes = draw_release(release).axes[0]
    assert legend(axes) == ["± expected error (root mean square)", "estimate"]
    assert line(axes, "estimate").get_xdata().tolist() == release.estimate.tolist()
    (bars,) = (found for found in axes.collections if found.get_label().startswith("±"))
    ends = np.array(bars.get_segments())[:, :, 0]
    np.testing.assert_allclose(ends[:, 0], release.estimate - release.error_std)
    np.testing.assert_allclose(ends[:, 1], release.estimate + release.error_std)
    heading, *numbers = written(axes)
    assert heading == "estimate ± expected error"
    for shown, estimate, error in zip(numbers, release.estimate, release.error_std, strict=True):
        middle, reach = map(float, shown.split(" ± "))
        assert reach == pytest.approx(error, rel=0.05)
        assert abs(middle - estimate) < 0.06 * error


def test_items_that_were_not_moved_have_their_interval_around_them(refined_of):
    axes = draw_release(refined_of(refined=())).axes[0]
    assert legend(axes) == ["95% interval", "estimate"]
    assert written(axes)[0] == "estimate ± 95%"


@pytest.mark.parametrize("refined", [True, False])
def test_of_many_items_the_largest_are_named_and_all_are_on_a_curve(refined_of, refined):
    d = 3000
    estimate = np.roll(0.3 / np.arange(1.0, d + 1), 100)
    release = refined_of(
        d=d, estimate=estimate, unrefined=estimate, noise_std=np.full(d, 0.005), **({} if refined else {"refined": ()})
    )
    figure = draw_release(release)
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "The 20 largest estimates, n = 1,234, d = 3,000",
        "All 3,000 estimates by rank",
        "Where the budget went, ρ = 0.5",
        "Noise before refining, against spread" if refined else "Noise against spread",
    ]
    named, curve = figure.axes[:2]
    assert [tick.get_text() for tick in named.get_yticklabels()] == [f"c{place}" for place in range(100, 120)]
    np.testing.assert_allclose(line(named, "estimate").get_xdata(), 0.3 / np.arange(1, 21))
    assert curve.get_xscale() == "log"
    drawn = line(curve, "estimate")
    np.testing.assert_allclose(drawn.get_ydata(), 0.3 / drawn.get_xdata())
    assert drawn.get_xdata()[0] == 1
    assert drawn.get_xdata()[-1] > 0.98 * d
    assert len(drawn.get_xdata()) <= MOST_BINS
    name = "expected error (root mean square)" if refined else "half of the 95% interval"
    errors = line(curve, name)
    order = np.argsort(-estimate, kind="stable")
    expected = release.error_std[order] if refined else Z * np.maximum(release.error_std, release.noise_std)[order]
    np.testing.assert_allclose(errors.get_ydata(), expected[errors.get_xdata().astype(int) - 1])


def test_the_truth_of_items_stands_at_its_rank(refined_of):
    release = refined_of(d=100, estimate=np.linspace(0, 0.5, 100))
    named, curve = draw_release(release, truth=release.estimate + 0.1).axes[:2]
    np.testing.assert_allclose(line(named, "truth").get_xdata(), release.estimate[:-21:-1] + 0.1)
    np.testing.assert_allclose(line(curve, "truth").get_ydata(), release.estimate[::-1] + 0.1)


def test_a_picture_of_items_that_nobody_has(refined_of):
    for d in (3, 60):
        nobody = refined_of(d=d, estimate=np.zeros(d), error_std=np.zeros(d), spread=np.full(d, 1e-9))
        assert svg_text(draw_release(nobody)).startswith("<?xml")
        odd = np.resize([np.nan, np.inf, -np.inf, 0.1, 1e308], d)
        assert svg_text(draw_release(refined_of(d=d, estimate=odd, error_std=odd, unrefined=odd))).startswith("<?xml")


def test_a_picture_of_thirty_thousand_items_stays_small(refined_of):
    release = refined_of(d=30_000, estimate=0.3 / np.arange(1.0, 30_001))
    assert len(svg_text(draw_release(release))) < 500_000


def test_few_columns_are_read_from_top_to_bottom(release_of):
    bottom, top = draw_release(release_of(d=4)).axes[0].get_ylim()
    assert bottom > 3 > 0 > top


@pytest.mark.parametrize("d", [41, 500, 5000])
def test_many_columns_are_a_band_that_holds_every_interval(release_of, d):
    release = release_of(d=d)
    axes = draw_release(release).axes[0]
    order = np.argsort(release.estimate)
    drawn = line(axes, "estimate")
    x, y = drawn.get_xdata(), drawn.get_ydata()
    assert len(x) == min(d, MOST_BINS)
    np.testing.assert_array_equal(y, release.estimate[order][x.astype(int) - 1])
    corners = axes.collections[0].get_paths()[0].vertices
    low, high = release.estimate - Z * release.noise_std, release.estimate + Z * release.noise_std
    ranks = np.arange(1, d + 1)
    nearest = np.abs(ranks[:, None] - x[None, :]).argmin(axis=1) if d <= 500 else (ranks - 1) * MOST_BINS // d
    lowest = np.array([corners[corners[:, 0] == place, 1].min() for place in x])
    highest = np.array([corners[corners[:, 0] == place, 1].max() for place in x])
    assert np.all(lowest[nearest] <= low[order] + 1e-12)
    assert np.all(highest[nearest] >= high[order] - 1e-12)
    # and no further than the intervals of its bin
    assert lowest.min() == pytest.approx(low.min())
    assert highest.max() == pytest.approx(high.max())


@pytest.mark.parametrize("d", [41, 5000])
def test_below_the_band_stands_how_wide_it_is(release_of, d):
    release = release_of(d=d)
    upper, below = draw_release(release).axes[:2]
    half_width = (Z * release.noise_std)[np.argsort(release.estimate)]
    (dots,) = below.get_lines()
    np.testing.assert_array_equal(dots.get_xdata(), line(upper, "estimate").get_xdata())
    np.testing.assert_allclose(dots.get_ydata(), half_width[dots.get_xdata().astype(int) - 1])
    ranges = np.array(below.collections[0].get_segments())[:, :, 1]
    assert ranges.min() == pytest.approx(half_width.min())
    assert ranges.max() == pytest.approx(half_width.max())
    assert below.get_yscale() == "log"
    first, last = release.estimate.argmin(), release.estimate.argmax()
    assert below.get_xlabel() == (
        f"columns in the order of their estimates, from {release.labels[first]} "
        f"(−{abs(release.estimate[first]):.4g}) to {release.labels[last]} ({release.estimate[last]:.4g})"
    )


def test_equal_noise_is_a_level_line_and_not_its_last_digits(release_of):
    below = draw_release(release_of(d=100, noise_std=np.full(100, 2.0) + 1e-15 * np.arange(100))).axes[1]
    assert below.get_yscale() == "linear"
    assert below.get_ylim() == pytest.approx((0, 1.2 * 2 * Z))


@pytest.mark.parametrize("d", [5, 200, 3000])
def test_the_truth_stands_at_its_own_column(release_of, d):
    release = release_of(d=d)
    axes = draw_release(release, truth=release.estimate + 5).axes[0]
    crosses = line(axes, "truth")
    if d == 5:
        np.testing.assert_array_equal(crosses.get_ydata(), line(axes, "estimate").get_ydata())
        np.testing.assert_allclose(crosses.get_xdata(), release.estimate + 5)
    else:
        np.testing.assert_array_equal(crosses.get_xdata(), np.arange(1, d + 1))
        np.testing.assert_allclose(crosses.get_ydata(), np.sort(release.estimate) + 5)
    assert legend(axes)[-1] == "truth"


def test_a_truth_of_another_shape_is_refused(release_of):
    for truth in (np.zeros(2), np.zeros((3, 1)), 0.0):
        with pytest.raises(ArgumentError) as refusal:
            draw_release(release_of(), truth=truth)
        assert refusal.value.argument == "truth"


def test_columns_of_very_different_size_get_a_logarithmic_axis(release_of):
    sizes = np.array([0.7, 1.1, 30.0, 41.0, 33_800.0])

    def axis(estimate, noise):
        return draw_release(release_of(d=5, estimate=estimate, noise_std=noise)).axes[0]

    assert axis(sizes, sizes / 100).get_xscale() == "log"
    # One that may be negative, or is: zero and both signs must have a place.
    for estimate, noise in ((sizes, np.full(5, 1.0)), (sizes * [1, -1, 1, -1, -1], sizes / 100)):
        shown = axis(estimate, noise)
        assert shown.get_xscale() == "symlog"
        assert 0 in shown.get_xticks()
        assert len(shown.get_xticks()) <= 10
    assert axis(np.array([3.0, 4.0, 5.0, 6.0, 50.0]), np.ones(5)).get_xscale() == "linear"
    negative = axis(-sizes, sizes / 100)
    assert -10_000 in negative.get_xticks()
    low, high = negative.get_xlim()
    assert low < -33_800 < -0.7 < high


def test_a_linear_axis_has_no_offset(release_of):
    axes = draw_release(release_of(d=1, estimate=[1234.5678], noise_std=[1e-5])).axes[0]
    axes.figure.draw_without_rendering()
    assert axes.xaxis.get_offset_text().get_text() == ""
    assert all(tick.get_text().startswith("1234.56") for tick in axes.get_xticklabels())


@pytest.mark.parametrize(
    ("estimate", "half_width", "shown"),
    [
        (41.0694, 0.0566, "41.069 ± 0.057"),
        (33_800.6, 192.4, "33,801 ± 192"),
        (-0.0, 1.0, "0.0 ± 1.0"),
        (-0.3, 101.0, "0 ± 101"),
        (-1234567.0, 12.0, "−1,234,567 ± 12"),
        (3.21e12, 4.5e9, "3.21e+12 ± 4.5e+09"),
        (1.2345e-9, 3.3e-12, "1.2345e−09 ± 3.3e−12"),
        (0.0, 3.3e-12, "0 ± 3.3e−12"),
        (float("nan"), 1.0, "nan ± 1"),
        (1.0, float("inf"), "1 ± inf"),
        (5.0, 0.0, "5 ± 0"),
    ],
)
def test_numbers_are_as_precise_as_their_noise(estimate, half_width, shown):
    assert with_noise(estimate, half_width) == shown


def test_the_bars_are_the_shares_of_the_steps(release_of):
    axes = draw_release(release_of()).axes[1]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [
        "center",
        "spread bound",
        "spread",
        "radius",
        "sum",
    ]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([20, 2, 8, 5, 65])
    assert written(axes) == ["20.0%", "2.0%", "8.0%", "5.0%", "65.0%"]
    assert axes.get_title(loc="left") == "Where the budget went, ρ = 0.5"


def test_a_tiny_share_is_not_nothing_and_one_bar_does_not_fill_the_panel(release_of, receipt_of):
    whole = receipt_of()
    tiny = whole.payments[0]
    least = Receipt.from_dict(
        whole.to_dict()
        | {
            "rho": "1000001/1000000",
            "payments": [
                {"step": "center", "rho": "1/1000000", "squared_sensitivity": 1, "values": tiny.values},
                {"step": "sum", "rho": "1/1", "squared_sensitivity": 1, "values": 3},
            ],
        }
    )
    axes = draw_release(release_of(receipt=least)).axes[1]
    assert written(axes) == ["< 0.1%", "100.0%"]
    assert abs(np.subtract(*axes.get_ylim())) >= 3


@pytest.mark.parametrize(("error_norm", "slope"), [(1.0, 2 / 3), (2.0, 1 / 2), (np.inf, 0)])
def test_the_line_has_the_optimal_slope_and_meets_optimal_noise(release_of, error_norm, slope):
    # Columns in units a thousand times apart: only in units of error_scale is the optimum one line.
    scale = 10.0 ** np.arange(-3, 4)
    spread = np.geomspace(0.01, 30, 7)
    noise = 0.2 * spread**slope
    release = release_of(d=7, error_norm=error_norm, spread=spread * scale, noise_std=noise * scale, error_scale=scale)
    axes = draw_release(release).axes[2]
    dots, best = axes.get_lines()
    np.testing.assert_allclose(dots.get_xdata(), spread)
    np.testing.assert_allclose(dots.get_ydata(), noise)
    np.testing.assert_allclose(best.get_ydata(), 0.2 * best.get_xdata() ** slope)
    assert "units of error_scale" in axes.get_xlabel()


def test_the_noise_of_items_has_no_such_line(refined_of):
    axes = draw_release(refined_of(d=7)).axes[2]
    assert legend(axes) == ["one column"]
    assert len(axes.get_lines()) == 1


def test_columns_that_are_all_alike_still_have_axes(release_of):
    for d in (1, 6):
        release = release_of(d=d, spread=np.full(d, 3.0), noise_std=np.full(d, 1e-5), estimate=np.full(d, 8.0))
        axes = draw_release(release).axes[2]
        assert axes.get_xlim() == pytest.approx((1.5, 6.0))
        assert axes.get_ylim() == pytest.approx((0.5e-5, 2e-5))


@pytest.mark.parametrize("d", [1, 7])
def test_without_spreads_the_noise_stands_beside_the_bounds(release_of, receipt_of, d):
    # Each number is another, so that no two can be mixed up.
    bounds = tuple((-1.0 - i, 4.0 * (i + 1)) for i in range(d))
    noise, scale = 0.01 * np.arange(1.0, d + 1) ** 3, np.arange(2.0, d + 2)
    release = release_of(
        d=d, spread=None, noise_std=noise, error_scale=scale, receipt=receipt_of(d=d, bounds=bounds, method="gaussian")
    )
    axes = draw_release(release).axes[2]
    expected = [(np.diff(bounds).ravel() / scale), 2 * Z * noise / scale, noise / scale]
    assert len(axes.get_lines()) == 3
    for place, (drawn, values) in enumerate(zip(axes.get_lines(), expected, strict=True)):
        assert drawn.get_ydata().tolist() == [place, place] if d > 1 else True
        np.testing.assert_allclose(drawn.get_xdata(), [values.min(), values.max()])
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [
        "width of bounds",
        "width of 95% interval",
        "noise std",
    ]
    assert [float(text.split()[0]) for text in written(axes)] == pytest.approx([v.min() for v in expected], rel=0.01)
    assert [float(text.split()[-1]) for text in written(axes)] == pytest.approx([v.max() for v in expected], rel=0.01)


def test_no_panel_fails_on_values_that_cannot_be_drawn(release_of):
    odd = np.array([np.inf, -np.inf, np.nan, 0.0, 1.7e308])
    for d, spread in ((5, True), (50, None)):
        values = np.tile(odd, d // 5)
        figure = draw_release(
            release_of(
                d=d,
                estimate=values,
                spread=values if spread else None,
                noise_std=np.abs(values),
                error_scale=np.full(d, 1e-300),
            ),
            truth=values,
        )
        assert svg_text(figure).startswith("<?xml")
        zeros = np.zeros(d)
        quiet = release_of(d=d, estimate=zeros, spread=zeros if spread else None, noise_std=zeros)
        assert svg_text(draw_release(quiet)).startswith("<?xml")


@pytest.mark.parametrize("size", [1e-140, 1e140])
@pytest.mark.parametrize("d", [3, 60])
def test_any_scale_can_be_drawn(release_of, receipt_of, size, d):
    plain = release_of(d=d)
    receipt = receipt_of(d=d, bounds=((-size, size),) * d)
    spread = plain.spread * size if d == 3 else None
    scaled = release_of(
        d=d, estimate=plain.estimate * size, noise_std=plain.noise_std * size, spread=spread, receipt=receipt
    )
    assert svg_text(draw_release(scaled)).startswith("<?xml")


def test_column_names_are_plain_text(release_of):
    names = (r"$\frac{$", "a_b^c $x$ " + "long " * 30, "line\nbreak")
    axes = draw_release(release_of(labels=names)).axes[0]
    shown = [tick.get_text() for tick in axes.get_yticklabels()]
    assert shown[0] == names[0]
    assert all(len(name) <= 32 and "\n" not in name for name in shown)
    many = tuple(rf"$\frac{{ {i}" for i in range(50))
    assert r"$\frac{ " in draw_release(release_of(d=50, labels=many)).axes[1].get_xlabel()


def test_names_in_any_script_neither_warn_nor_log(release_of, caplog, tmp_path):
    # Whether a font for them is installed or not; warnings are errors in these tests.
    names = ("Возраст", "用户年龄", "العمر", "อายุ", "😀", "\U0010fffd")
    with caplog.at_level(logging.WARNING):
        figure = draw_release(release_of(d=6, labels=names, warnings=("column 用户年龄 is lost",)))
        for kind in ("png", "svg", "pdf"):
            figure.savefig(tmp_path / f"picture.{kind}")
            assert (tmp_path / f"picture.{kind}").stat().st_size > 1000
    assert not caplog.records
    shown = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert shown[0] == "Возраст"
    assert len(set(shown)) == 6


def test_what_no_font_has_is_escaped_and_what_one_has_is_not():
    lettering = Lettering(families=("any",), unknown=frozenset("用户"))
    assert lettering.name("用户 age") == r"'\u7528\u6237 age'"
    assert lettering.name("age é") == "age é"
    assert lettering.sentence("centre of 用户 lost") == "centre of ?? lost"
    assert not lettering_for(["plain é Ж"]).unknown
    # A box for every letter is no way to draw it.
    everything = lettering_for(["用户 อายุ 😀"])
    assert not any(family.startswith("Last Resort") for family in everything.families)
    # 𝛀 is in none of the usual font's glyphs, but in a font that comes with matplotlib.
    found = lettering_for(["\U0001d6c0"])
    assert not found.unknown
    assert len(found.families) == 2


def test_only_regular_faces_stand_in(monkeypatch):
    # matplotlib logs a line for each family that has no regular face.
    from dataclasses import replace

    from matplotlib.font_manager import fontManager

    monkeypatch.setattr(fontManager, "ttflist", [replace(font, weight=700) for font in fontManager.ttflist])
    assert lettering_for(["\U0001d6c0"]).unknown == {"\U0001d6c0"}


def test_the_same_release_is_the_same_file(release_of):
    for d in (3, 50):
        figure = draw_release(release_of(d=d))
        pictures = {svg_text(figure), svg_text(figure), svg_text(draw_release(release_of(d=d)))}
        assert len(pictures) == 1
        assert "dc:date" not in pictures.pop()


def test_an_svg_of_many_columns_stays_small(release_of):
    assert len(svg_text(draw_release(release_of(d=5000)))) < 500_000


def test_an_insecure_picture_says_so(release_of, receipt_of):
    assert draw_release(release_of()).get_suptitle() == ""
    assert "protects nobody" in draw_release(release_of(receipt=receipt_of(insecure=True))).get_suptitle()


def test_the_warnings_are_on_the_picture(release_of):
    assert draw_release(release_of()).get_supxlabel() == ""
    told = (r"the centre of $\frac{$ was lost " + "and found " * 20, "another")
    shown = draw_release(release_of(warnings=told)).get_supxlabel()
    assert " ".join(shown.split()) == " ".join(f"Warning: {text}" for text in told).replace("  ", " ")
    assert len(shown.splitlines()) > 2


def test_drawing_leaves_no_global_trace(release_of):
    import matplotlib

    before = dict(matplotlib.rcParams)
    svg_text(draw_release(release_of()))
    assert dict(matplotlib.rcParams) == before
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or pyplot.get_fignums() == []


def test_without_matplotlib_the_extra_is_named(release_of, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"plandp\[plot\]") as refusal:
        release_of().plot()
    assert refusal.value.__cause__ is None


def test_nearly_equal_spreads_have_more_than_one_number_on_their_axis(release_of):
    figure = release_of(d=60, spread=np.linspace(0.93, 1.06, 60), noise_std=np.full(60, 0.01)).plot()
    (noise,) = (ax for ax in figure.axes if ax.get_title(loc="left").startswith("Noise against"))
    low, high = noise.get_xlim()
    assert sum(low <= place <= high for place in noise.get_xticks()) >= 2
