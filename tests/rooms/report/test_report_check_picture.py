"""The picture of a check: both curves, the point that was asked, and where nothing would be found."""

import sys

import numpy as np
import pytest

import plandp
from plandp.errors import MissingExtra
from plandp.report.check_picture import draw_check
from plandp.report.lettering import plain_number
from plandp.report.picture import svg_text

pytest.importorskip("matplotlib")


def check_of(**changed):
    return plandp.check(**{"n": 10_000, "d": 20, "bounds": (0, 100), "rho": 0.1, **changed})


def line(axes, name):
    return next(line for line in axes.get_lines() if line.get_label() == name)


def test_two_panels_show_the_error_against_rho_and_n():
    check = check_of()
    figure = check.plot()
    by_rho, by_n = figure.axes
    assert by_rho.get_title(loc="left") == "Error against ρ, n = 10,000"
    assert by_n.get_title(loc="left") == "Error against n, ρ = 0.1"
    for axes, points, places in (
        (by_rho, check.by_rho, [point.rho for point in check.by_rho]),
        (by_n, check.by_n, [point.n for point in check.by_n]),
    ):
        assert axes.get_xscale() == axes.get_yscale() == "log"
        np.testing.assert_allclose(line(axes, "plan").get_xdata(), places)
        np.testing.assert_allclose(line(axes, "plan").get_ydata(), [point.error for point in points])
        gaussian = line(axes, "Gaussian mechanism").get_ydata()
        np.testing.assert_allclose(gaussian, [point.gaussian_error for point in points])


def test_the_point_that_was_asked_is_marked_and_named():
    check = check_of()
    for axes, here in zip(check.plot().axes, (0.1, 10_000), strict=True):
        marked = line(axes, "as asked")
        assert (marked.get_xdata()[0], marked.get_ydata()[0]) == (here, check.error)
        assert [text.get_text() for text in axes.texts] == [f"{check.error:.3g}"]


def test_sampling_falls_with_the_rows_and_not_with_rho():
    by_rho, by_n = check_of().plot().axes
    assert np.ptp(line(by_rho, "sampling of the rows").get_ydata()) == 0
    sampling = line(by_n, "sampling of the rows")
    np.testing.assert_allclose(sampling.get_ydata() * np.sqrt(sampling.get_xdata()), check_of().sampling_error * 100)


def test_what_is_not_feasible_is_shaded():
    def shaded(axes):
        return [patch for patch in axes.patches if patch.get_label() == "not feasible"]

    check = check_of()
    by_rho, by_n = check.plot().axes
    (area,) = shaded(by_n)
    right = area.get_extents().transformed(by_n.transData.inverted()).x1
    assert right == pytest.approx(check.smallest_n)
    assert area.get_hatch()  # print without colour shows it too
    assert all(not shaded(axes) for axes in check_of(method="gaussian").plot().axes)
    (whole,) = shaded(check_of(n=2, d=10**4).plot().axes[0])
    assert whole.get_extents().transformed(by_rho.transData.inverted()).x1 > 5


def test_the_legend_names_each_line_once():
    (legend,) = check_of().plot().legends
    names = [text.get_text() for text in legend.get_texts()]
    assert sorted(names) == ["Gaussian mechanism", "as asked", "not feasible", "plan", "sampling of the rows"]


def test_the_gaussian_mechanism_is_not_compared_with_itself():
    by_rho, _ = check_of(method="gaussian").plot().axes
    assert [line.get_label() for line in by_rho.get_lines()] == ["sampling of the rows", "gaussian", "as asked"]


def test_the_picture_is_the_same_each_time():
    assert svg_text(check_of().plot()) == svg_text(check_of().plot())


@pytest.mark.parametrize(
    "extreme",
    [
        {"n": 1, "d": 1, "rho": 1e-12},
        {"n": 10**15, "rho": 1e6},
        {"bounds": (-(2.0**599), 2.0**599), "error_scale": "bounds"},
        {"bounds": (0, 2.0**119)},
    ],
)
def test_extreme_numbers_can_be_drawn(extreme):
    assert svg_text(check_of(**extreme).plot()).startswith("<?xml")


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match="plot"):
        check_of().plot()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0025, "0.0025"),
        (1432.0, "1,430"),
        (999_600.0, "10⁶"),
        (1e6, "10⁶"),
        (-2.54e-7, "−2.54·10⁻⁷"),
        (-1500.0, "−1,500"),
        (0.0, "0"),
        (1e300, "10³⁰⁰"),
    ],
)
def test_numbers_as_people_write_them(value, shown):
    assert plain_number(value) == shown


def test_the_value_stays_off_the_axis():
    figure = draw_check(plandp.check(n=1, d=2, bounds=(0, 1000), rho=1))
    (text,) = figure.axes[1].texts
    axis = figure.axes[1].get_window_extent()
    assert text.get_window_extent().x0 > axis.x0
