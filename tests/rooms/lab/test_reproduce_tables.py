"""Tables and figures say whose numbers they show, how sure these are, and nothing of what is not there."""

from collections.abc import Callable

from plandp_lab.reproduce.cells import Record
from plandp_lab.reproduce.draw_panels import draw_panels
from plandp_lab.reproduce.entrants import EMPIRICAL_MEAN, TRUE_MEAN
from plandp_lab.reproduce.exhibits import NO_SCALING
from plandp_lab.reproduce.illustration import show_illustration
from plandp_lab.reproduce.panels import Measured, Panel, correlated_panels, panel_c, small_rho_panels
from plandp_lab.reproduce.results import Results
from plandp_lab.reproduce.scale import FULL
from plandp_lab.reproduce.show_panels import panel_table

PLAIN = panel_c(FULL, entrants=NO_SCALING)


def records(panel: Panel, error: Callable[[str, int], float], runs: int = 20) -> list[Record]:
    return [
        {
            "cell": point.cell.key,
            "entrant": entrant,
            "run": run,
            "errors": {TRUE_MEAN: error(entrant, run), EMPIRICAL_MEAN: error(entrant, run)},
            "seconds": 0.0,
        }
        for point in panel.points
        for entrant in panel.entrants
        if entrant != "unscaled"
        for run in range(runs)
    ]


def labels(measured: Measured) -> list[str]:
    (legend,) = draw_panels([measured]).legends
    return [text.get_text() for text in legend.get_texts()]


def test_columns_of_others_say_what_they_are_and_by_how_many_runs() -> None:
    head = panel_table(Measured(PLAIN, Results([]), TRUE_MEAN)).rows[0]
    assert head[2:5] == ("PLAN, published (50 runs)", "PLAN-noscale, published (50 runs)", "IOME, published (50 runs)")
    assert "plan / PLAN, published" in head
    again = panel_table(Measured(PLAIN, Results([]), EMPIRICAL_MEAN))
    assert again.rows[0][2:5] == (
        "PLAN, their code again (6 runs)",
        "PLAN-noscale, their code again (6 runs)",
        "IOME, their code again (6 runs)",
    )
    assert [line[3] for line in again.rows[1:4]] == ["", "", "0.544"]
    text = panel_table(Measured(correlated_panels(FULL)[1], Results([]), EMPIRICAL_MEAN)).rows[0]
    assert text[2:4] == ("PLAN, paper's text", "IOME, paper's text")


def test_where_nothing_is_published_there_is_no_column_for_it() -> None:
    table = panel_table(Measured(small_rho_panels(FULL)[2], Results([]), EMPIRICAL_MEAN))
    assert table.rows[0] == ("d", "ρ", "plan", "plan-classic", "iome", "oracle", "sampling error", "plan / oracle")
    assert "ℓ2 distance to the empirical mean" in table.heading
    assert table.note == "No numbers are published for it."


def test_a_table_says_how_sure_its_medians_are_and_which_runs_failed() -> None:
    failing = records(PLAIN, lambda name, run: 100.0 if name == "iome" and run < 2 else 1.0 + run % 2 / 10)
    note = panel_table(Measured(PLAIN, Results(failing), TRUE_MEAN)).note
    # quartiles 1 and 1.1 around 1.05: 1.2533·.7413·.0952/√20 = 2%
    assert note.startswith("Standard error of a median: 2% as a rule, ")
    assert note.endswith("Failed runs: iome 42 of 420 (most at d = 16, ρ = 1: 2 of 20).")
    few = panel_table(Measured(PLAIN, Results(records(PLAIN, lambda name, run: 1.0, runs=2)), TRUE_MEAN))
    assert few.note == ""


def test_the_illustration_shows_true_spreads_beside_those_that_were_found() -> None:
    (table,) = show_illustration(Results([])).tables
    lines = {name: [float(value) for value in values] for name, *values in table.rows[1:]}
    for true, found in zip(lines["true spread of the rows"], lines["spread that was found"], strict=True):
        assert 0.8 < found / true < 1.25  # one seeded release


def test_a_legend_lists_what_is_drawn() -> None:
    results = Results(records(PLAIN, lambda name, run: 1e6 if name == "plan-classic" else 1.0))
    shown = labels(Measured(PLAIN, results, EMPIRICAL_MEAN))
    assert {"plan", "PLAN, their code again", "PLAN-noscale, their code again", "above the axis"} <= set(shown)
    assert not {"unscaled", "PLAN, published", "PLAN-noscale, published"} & set(shown)
    panel = small_rho_panels(FULL)[0]
    assert labels(Measured(panel, Results(records(panel, lambda name, run: 1.0)), TRUE_MEAN)) == [
        *("plan", "plan-classic", "iome", "oracle", "sampling error")
    ]
