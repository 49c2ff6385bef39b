"""A ledger in words and as a picture: every reservation at its time and height, told apart by more than colour."""

import re
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest
from matplotlib.dates import date2num

from plandp.errors import MissingExtra
from plandp.ledger.status import DatasetStatus, ReservationStatus
from plandp.report.budget_picture import draw_budget
from plandp.report.ledger_table import dataset_text, ledger_text
from plandp.report.picture import svg_text
from plandp.terms.zcdp import epsilon_of, rho_of

START = datetime(2026, 9, 1, 8, 0, tzinfo=UTC)
DAY = 24 * 60


def status_of(*reservations, name="survey", total="1", person=None):
    """The status of a dataset; reservations are (minutes after the start, rho, state)."""
    found = tuple(
        ReservationStatus(
            number=2 * place + 2,
            rho=Fraction(rho),
            state=state,
            time=START + timedelta(minutes=minutes),
            host="host",
            pid=7,
            paid=None,
        )
        for place, (minutes, rho, state) in enumerate(reservations)
    )
    return DatasetStatus(
        dataset=name,
        total=Fraction(total),
        spent=sum((one.rho for one in found if one.state != "cancelled"), Fraction(0)),
        person=person,
        neighbours="replace one row",
        privacy_unit="row",
        time=START,
        reservations=found,
    )


SOME = status_of(
    (3 * DAY, "1/8", "committed"),
    (9 * DAY, "1/4", "interrupted"),
    (9 * DAY, "1/2", "cancelled"),
    (12 * DAY, "1/8", "committed"),
    (20 * DAY, "1/8", "running"),
)


def marked(figure):
    """Time, height and shape of each kind of mark, by name."""
    (axes,) = figure.axes
    return {
        line.get_label().partition(" (")[0].partition(":")[0]: (
            line.get_xdata().tolist(),
            line.get_ydata().tolist(),
            (line.get_marker(), line.get_markerfacecolor()),
        )
        for line in axes.get_lines()
        if line.get_marker() != "None"
    }


def test_each_reservation_stands_at_its_time_and_height():
    marks = marked(draw_budget(SOME))
    assert {name: heights for name, (_, heights, _) in marks.items()} == {
        "released": [0.125, 0.5],
        "interrupted": [0.375],
        "cancelled": [0.0],
        "running": [0.625],
    }
    for name, minutes in (("released", [3 * DAY, 12 * DAY]), ("running", [20 * DAY])):
        expected = [date2num(START + timedelta(minutes=one)) for one in minutes]
        np.testing.assert_array_equal(marks[name][0], expected)


def test_states_are_told_apart_without_colour():
    shapes = [shape for _, _, shape in marked(draw_budget(SOME)).values()]
    assert len({(mark, face == "white") for mark, face in shapes}) == 4


def test_the_steps_end_at_what_is_spent_and_stay_below_the_total():
    (axes,) = draw_budget(SOME).axes
    steps = next(line for line in axes.get_lines() if line.get_drawstyle() == "steps-post")
    assert steps.get_ydata()[0] == 0
    assert steps.get_ydata()[-1] == float(SOME.spent)
    assert list(steps.get_ydata()) == sorted(steps.get_ydata())
    total = next(line for line in axes.get_lines() if line.get_label() == "total, ρ = 1")
    assert set(total.get_ydata()) == {1.0}
    assert axes.get_ylim()[1] > 1
    assert axes.get_title(loc="left") == "Budget of survey: ρ = 0.625 of 1 spent, 0.375 left"


def test_reservations_of_one_minute_stand_above_each_other():
    times, heights, _ = marked(draw_budget(status_of(*[(0, "1/8", "committed")] * 5)))["released"]
    assert set(times) == {date2num(START)}
    assert heights == [0.125, 0.25, 0.375, 0.5, 0.625]


@pytest.mark.parametrize("status", [SOME, status_of(), status_of((7, "1/8", "committed"))])
def test_the_axis_ends_with_what_is_known_and_shows_all_of_it(status):
    (axes,) = draw_budget(status).axes
    first, last = axes.get_xlim()
    known = [status.time, *(one.time for one in status.reservations)]
    assert last == date2num(max(known))
    assert first < date2num(min(known))
    assert (last - first) * DAY >= 5 * (1 - 1e-9)  # minutes: nothing is known of seconds


@pytest.mark.parametrize(
    "status",
    [
        status_of(),
        status_of((0, "1e-12", "committed"), total="1e-12"),
        status_of(*[(DAY * place, "1/2000", "committed") for place in range(1500)]),
        status_of((0, "1e6", "interrupted"), total="1e6", name="$x^2$ 調査 " + "n" * 150),
        status_of((0, "1/8", "cancelled")),
    ],
    ids=["nothing", "tiny", "many", "strange name", "only cancelled"],
)
def test_every_budget_can_be_drawn(status):
    assert svg_text(draw_budget(status)) == svg_text(draw_budget(status))


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"plandp\[plot\]"):
        draw_budget(SOME)


def test_words_say_what_the_states_mean_and_only_those_there_are():
    text = dataset_text(SOME)
    assert text.splitlines()[0] == "Dataset survey: rho = 0.625 of 1 spent, 0.375 left"
    assert "interrupted: stopped without saying that nothing was read: spent, and no release is stored" in text
    assert "interrupted:" not in dataset_text(status_of((0, "1/8", "committed")))
    assert dataset_text(status_of()).count("\n") == 1
    assert "people by user" in ledger_text([status_of(person="user")])


def test_the_total_is_also_said_as_epsilon_where_it_was_given_so():
    total, delta = rho_of(3.0, 1e-6), 1e-6
    given = {"epsilon": 3.0, "delta": delta, "total": total}
    new, used, empty = (
        replace(status_of(*one), **given)
        for one in ([], [(0, "1/32", "committed")], [(0, total - Fraction(1, 64), "committed")])
    )
    assert "at delta = 1e-06: epsilon = 3 in all, 0 spent, 3 left" in dataset_text(new)
    for status in (used, empty):
        line = next(line for line in dataset_text(status).splitlines() if line.startswith("at delta"))
        _, _, spent, left = map(float, re.findall(r"(?<![\w.])[\d.]+(?:e-\d+)?", line))
        # on the safe side, and in four digits
        assert epsilon_of(status.spent, delta) <= spent < 1.001 * epsilon_of(status.spent, delta)
        assert rho_of(left, delta) <= status.left < 1.01 * rho_of(left, delta)
    spent = replace(status_of((0, total, "committed")), **given)
    assert "epsilon = 3 in all, 3 spent, 0 left" in dataset_text(spent)
    assert "at delta = 1e-06: epsilon" not in dataset_text(SOME)


def test_a_status_prints_as_text_and_draws_itself(tmp_path):
    assert repr(SOME) == str(SOME) == dataset_text(SOME)
    assert SOME.plot(tmp_path / "budget.svg").axes
    assert (tmp_path / "budget.svg").read_text() == svg_text(draw_budget(SOME))


def test_names_that_would_break_a_line_do_not():
    assert len(ledger_text([status_of(name="n" * 200)]).splitlines()) == 3
