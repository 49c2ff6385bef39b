"""The picture of a release: what it draws, for how many columns, and that it is the same each time."""

import sys

import numpy as np
import pytest

from plandp.errors import ArgumentError, MissingExtra
from plandp.report.picture import draw_release, svg_text

pytest.importorskip("matplotlib")


def titles(figure):
    return [axes.get_title(loc="left").split(",")[0] for axes in figure.axes]


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def line(axes, label):
    return next(found for found in axes.get_lines() if found.get_label() == label)


def test_three_panels_and_two_when_the_spread_is_not_released(release_of):
    assert titles(release_of().plot()) == ["Estimates", "Where the budget went", "Noise against spread"]
    assert titles(draw_release(release_of(spread=None))) == ["Estimates", "Where the budget went"]


@pytest.mark.parametrize("d", [1, 40])
def test_few_columns_are_dots_with_bars_and_names(release_of, d):
    release = release_of(d=d)
    axes = draw_release(release).axes[0]
    assert legend(axes) == ["95% interval of the noise", "estimate"]
    assert line(axes, "estimate").get_ydata().tolist() == release.estimate.tolist()
    bars = np.array(axes.collections[0].get_segments())
    interval = release.interval(0.95)
    np.testing.assert_array_equal(bars[:, 0, 1], interval.low)
    np.testing.assert_array_equal(bars[:, 1, 1], interval.high)
    assert [tick.get_text() for tick in axes.get_xticklabels()] == list(release.labels)


@pytest.mark.parametrize("d", [41, 5000])
def test_many_columns_are_a_band_in_the_order_of_estimates(release_of, d):
    axes = draw_release(release_of(d=d)).axes[0]
    drawn = line(axes, "estimate")
    assert np.all(np.diff(drawn.get_ydata()) >= 0)
    assert len(drawn.get_ydata()) == min(d, 1000)
    assert drawn.get_xdata()[[0, -1]].tolist() == [1, d]


@pytest.mark.parametrize("d", [5, 200, 3000])
def test_the_truth_stands_at_its_own_column(release_of, d):
    release = release_of(d=d)
    figure = draw_release(release, truth=release.estimate + 5)
    axes = figure.axes[0]
    crosses, estimate = line(axes, "truth"), line(axes, "estimate")
    np.testing.assert_array_equal(crosses.get_xdata(), estimate.get_xdata())
    np.testing.assert_allclose(crosses.get_ydata(), estimate.get_ydata() + 5)
    assert legend(axes)[-1] == "truth"


def test_a_truth_of_another_shape_is_refused(release_of):
    for truth in (np.zeros(2), np.zeros((3, 1)), 0.0):
        with pytest.raises(ArgumentError) as refusal:
            draw_release(release_of(), truth=truth)
        assert refusal.value.argument == "truth"


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
    assert [text.get_text() for text in axes.texts] == ["20.0%", "2.0%", "8.0%", "5.0%", "65.0%"]


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


def test_no_panel_fails_on_values_that_cannot_be_drawn(release_of):
    odd = np.array([np.inf, -np.inf, np.nan, 0.0, 1.7e308])
    figure = draw_release(
        release_of(d=5, estimate=odd, spread=odd, noise_std=np.abs(odd), error_scale=np.full(5, 1e-300)),
        truth=odd,
    )
    assert svg_text(figure).startswith("<?xml")
    zeros = np.zeros(5)
    assert svg_text(draw_release(release_of(d=5, spread=zeros, noise_std=zeros))).startswith("<?xml")


def test_column_names_are_plain_text(release_of):
    names = (r"$\frac{$", "a_b^c $x$ " + "long " * 30, "line\nbreak")
    axes = draw_release(release_of(labels=names)).axes[0]
    shown = [tick.get_text() for tick in axes.get_xticklabels()]
    assert shown[0] == names[0]
    assert all(len(name) <= 18 and "\n" not in name for name in shown)


def test_the_same_release_is_the_same_file(release_of):
    figure = draw_release(release_of(d=12))
    pictures = {svg_text(figure), svg_text(figure), svg_text(draw_release(release_of(d=12)))}
    assert len(pictures) == 1
    assert "dc:date" not in pictures.pop()


def test_an_insecure_picture_says_so(release_of, receipt_of):
    assert draw_release(release_of()).get_suptitle() == ""
    assert "protects nobody" in draw_release(release_of(receipt=receipt_of(insecure=True))).get_suptitle()


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
