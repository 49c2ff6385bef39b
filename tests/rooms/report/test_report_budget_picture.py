"""A ledger in words and as a picture: every reservation at its time and height, told apart by more than colour."""

import sys
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest
from matplotlib.dates import date2num

from plandp.errors import MissingExtra
from plandp.ledger.status import DatasetStatus, ReservationStatus
from plandp.report.budget_picture import draw_budget
from plandp.report.ledger_table import dataset_text, ledger_text, shown_rho
from plandp.report.picture import svg_text

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
        np.testing.assert_allclose(marks[name][0], expected, atol=1 / DAY)  # within its minute


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


def test_reservations_of_one_minute_stand_side_by_side_in_their_order():
    marks = marked(draw_budget(status_of(*[(0, "1/8", "committed")] * 5)))
    times, heights, _ = marks["released"]
    assert times == sorted(set(times))
    assert heights == [0.125, 0.25, 0.375, 0.5, 0.625]
    assert date2num(START) < times[0]
    assert times[-1] < date2num(START + timedelta(minutes=1))


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


def test_rho_is_exact_or_says_that_it_is_not():
    assert shown_rho(Fraction(1, 8)) == "0.125"
    assert shown_rho(Fraction(0)) == "0"
    assert shown_rho(Fraction(1, 3)) == "≈0.333333"
    assert shown_rho(Fraction(1, 10**12)) == "1e-12"


def test_words_say_what_the_states_mean_and_only_those_there_are():
    text = dataset_text(SOME)
    assert text.splitlines()[0] == "Dataset survey: rho = 0.625 of 1 spent, 0.375 left"
    assert "interrupted: stopped without saying that nothing was read: spent, and no release is stored" in text
    assert "interrupted:" not in dataset_text(status_of((0, "1/8", "committed")))
    assert dataset_text(status_of()).count("\n") == 1
    assert "people by user" in ledger_text([status_of(person="user")])


def test_names_that_would_break_a_line_do_not():
    assert len(ledger_text([status_of(name="n" * 200)]).splitlines()) == 3
