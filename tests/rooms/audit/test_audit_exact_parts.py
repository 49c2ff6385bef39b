"""Exact parts of the audit: nothing to find in the library as it is, and these mistakes are found, by their kind."""

import io
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import plandp
from plandp import curator
from plandp.audit import mechanisms as mechanism_audit
from plandp.audit import refusals, row_by_row, worst_tables
from plandp.audit.mechanisms import attacks, paid_and_lost
from plandp.audit.neighbours import Tally, attack
from plandp.audit.plan import AuditPlan
from plandp.audit.refusals import counted_reads
from plandp.audit.row_by_row import added_otherwise, many_clipped_rows
from plandp.audit.watching import SCRIPTS, watched
from plandp.audit.worst_tables import Stage, stages
from plandp.data import csv_events
from plandp.data.open_sparse import open_sparse_rows
from plandp.mechanisms import ball_sum, clipped_sum, lattice_counts, norm_cells
from plandp.mechanisms.norm_cells import CellSums
from plandp.mechanisms.read_again import ReadAgain
from plandp.noise import meter, sampler
from plandp.noise.meter import MeteredNoise
from plandp.steps import box_sum, center, radius

RHO = Fraction(1, 2)
PLAN = AuditPlan(method="all", rho=RHO, seconds=0.0, false_alarm=1e-5)
STAGES = {stage.name: stage for stage in stages(PLAN)}
GAUSSIAN = STAGES["mean, gaussian, n = 12, d = 3"]
UNSCALED = STAGES["mean, unscaled, n = 12, d = 3"]
BINARY = STAGES["mean, binary, n = 12, d = 12, error_norm"]


def kinds(stage: Stage, number: int = 0) -> set[str]:
    """The kinds of problems that one round finds."""
    tally = Tally()
    attack(stage, number, RHO, tally)
    return {problem.kind for problem in tally.problems.values()}


@pytest.mark.parametrize("number", range(len(SCRIPTS)), ids=[name for name, _ in SCRIPTS])
@pytest.mark.parametrize("stage", [GAUSSIAN, UNSCALED], ids=lambda stage: stage.name)
def test_nothing_is_found_whatever_is_answered(stage: Stage, number: int) -> None:
    assert kinds(stage, number) == set()


def test_nothing_is_found_in_items_and_events() -> None:
    events = next(stage for name, stage in STAGES.items() if name.startswith("mean_of_events"))
    assert kinds(BINARY) == kinds(events) == set()


def test_sums_and_counts_are_attacked_to_their_sensitivity() -> None:
    tally = Tally()
    attack(STAGES["mean, plan, n = 428, d = 3"], 1, RHO, tally)
    attack(GAUSSIAN, 1, RHO, tally)
    assert set(tally.furthest) == {"center", "spread bound", "spread", "radius", "sum"}
    assert min(tally.furthest.values()) > Fraction(9, 10)
    assert max(tally.furthest.values()) == 1


# --- planted: every mistake shows, as what it is


def _release_with(**changed: Callable[[Any], Any]) -> Callable[..., Any]:
    """The door's own release, some of its arguments changed before."""
    release = MeteredNoise.release

    def changed_release(self: MeteredNoise, query: Any, **terms: Any) -> Any:
        terms = {name: changed[name](value) if name in changed else value for name, value in terms.items()}
        return release(self, query, **terms)

    return changed_release


def half_the_sensitivity(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MeteredNoise, "release", _release_with(squared_sensitivity=lambda D: max(1, D // 4)))


def half_the_sensitivity_stated(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        ball_sum,
        "private_clipped_sum",
        lambda totals, cell, noise, **terms: CLIPPED_SUM(totals, cell, Halved(noise), **terms),
    )


class Halved:
    """A door that is told half of every sensitivity."""

    def __init__(self, door: Any) -> None:
        self.door = door

    def release(self, query: Any, *, squared_sensitivity: int, **terms: Any) -> Any:
        return self.door.release(query, squared_sensitivity=squared_sensitivity // 4, **terms)


def half_of_the_cost_booked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(meter, "Payment", lambda **terms: PAYMENT(**{**terms, "rho": terms["rho"] / 2}))


def too_little_noise(self: MeteredNoise, query: Any, *, squared_sensitivity: int, rho: Fraction, step: str) -> Any:
    """A door that draws two thirds of the variance that is due."""
    self._pay(PAYMENT(step=step, rho=rho, squared_sensitivity=squared_sensitivity, values=query.size))
    return query + self._sampler.draw(query.size, squared_sensitivity / (3 * rho))


def a_door_that_draws_too_little(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MeteredNoise, "release", too_little_noise)


PAYMENT = meter.Payment


def not_all_of_the_budget(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MeteredNoise, "release", _release_with(rho=lambda rho: rho * Fraction(9, 10)))


def noise_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(meter, "_sum", lambda query, noise: query)


def an_unpaid_draw(patch: pytest.MonkeyPatch) -> None:
    def mean(rows: Any, box: Any, design: Any, noise: Any, **more: Any) -> Any:
        noise._sampler.draw(3, Fraction(1))
        return BOX_MEAN(rows, box, design, noise, **more)

    patch.setattr("plandp.baselines.gaussian.private_box_mean", mean)


BOX_MEAN = box_sum.private_box_mean


def a_number_that_nobody_paid_for(patch: pytest.MonkeyPatch) -> None:
    """The lowest bit of the estimate says whether the largest value is above zero."""
    from dataclasses import replace

    def mean(rows: Any, box: Any, design: Any, noise: Any, **more: Any) -> Any:
        estimate = BOX_MEAN(rows, box, design, noise, **more)
        above = any(np.nan_to_num(block).max() > 1 for block in rows.blocks())
        return replace(estimate, mean=np.nextafter(estimate.mean, np.inf if above else -np.inf))

    patch.setattr("plandp.baselines.gaussian.private_box_mean", mean)


def noise_from_elsewhere(patch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    def mean(rows: Any, box: Any, design: Any, noise: Any, **more: Any) -> Any:
        estimate = BOX_MEAN(rows, box, design, noise, **more)
        return replace(estimate, mean=estimate.mean + np.random.default_rng().normal(0, 1e-9, 3))

    patch.setattr("plandp.baselines.gaussian.private_box_mean", mean)


def a_bound_from_the_data(patch: pytest.MonkeyPatch) -> None:
    """The radius is the longest row's."""

    def private_sum(totals: Any, cell: int, noise: Any, **terms: Any) -> Any:
        return CLIPPED_SUM(totals, int(np.flatnonzero(totals.counts)[-1]), noise, **terms)

    patch.setattr(ball_sum, "private_clipped_sum", private_sum)


CLIPPED_SUM = clipped_sum.private_clipped_sum


def a_value_that_raises(patch: pytest.MonkeyPatch) -> None:
    def totals(rows: Any, *arguments: Any, **more: Any) -> Any:
        if any(np.isnan(block).any() for block in rows.blocks()):
            raise ValueError
        return norm_cells.cell_totals(rows, *arguments, **more)

    patch.setattr(ball_sum, "cell_totals", totals)


def a_value_that_warns(patch: pytest.MonkeyPatch) -> None:
    import warnings

    def totals(rows: Any, *arguments: Any, **more: Any) -> Any:
        if any(np.isnan(block).any() for block in rows.blocks()):
            warnings.warn("strange", stacklevel=1)
        return norm_cells.cell_totals(rows, *arguments, **more)

    patch.setattr(ball_sum, "cell_totals", totals)


@pytest.mark.parametrize(
    ("plant", "kind"),
    [
        (half_the_sensitivity, "wrong noise"),
        (half_the_sensitivity, "accounting"),
        (half_the_sensitivity_stated, "sensitivity"),
        (half_of_the_cost_booked, "accounting"),
        (a_door_that_draws_too_little, "wrong noise"),
        (not_all_of_the_budget, "accounting"),
        (noise_forgotten, "noise not added"),
        (an_unpaid_draw, "unpaid draws"),
        (a_number_that_nobody_paid_for, "released bits"),
        (noise_from_elsewhere, "released bits"),
        (a_bound_from_the_data, "values decide what is asked"),
        (a_value_that_raises, "values raise"),
        (a_value_that_warns, "values warn"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_planted_mistakes_are_found(
    plant: Callable[[pytest.MonkeyPatch], None], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert kind in kinds(GAUSSIAN)


def test_rank_sensitivity_of_one_half_is_found_by_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    def counts(keys: Any, thresholds: Any, noise: Any, *, rho: Fraction, step: str) -> Any:
        query = keys.twice_below(thresholds)
        return noise.release(query, squared_sensitivity=len(query), rho=rho, step=step) / 2.0

    monkeypatch.setattr(center, "private_counts_below", counts)
    assert "sensitivity" in kinds(STAGES["mean, unscaled, n = 428, d = 3"])


def test_payments_that_do_not_add_up_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = radius.FAR_THEN_FINER
    monkeypatch.setattr(radius, "FAR_THEN_FINER", tuple(share / 3 for share in shares))
    assert "accounting" in kinds(UNSCALED)
    monkeypatch.setattr(radius, "FAR_THEN_FINER", tuple(share * 3 for share in shares))
    assert kinds(UNSCALED) == {"accounting"}  # the door refuses, whatever the rows


# --- row by row


@pytest.mark.parametrize("stage", [GAUSSIAN, BINARY], ids=lambda stage: stage.name)
def test_rows_add_what_they_add_alone(stage: Stage) -> None:
    found, queries = added_otherwise(stage, 0)
    assert found == []
    assert queries > 0


@contextmanager
def numpy_loops(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(norm_cells, "compiled", lambda function: None)
    yield


def float_sums(self: CellSums, block: Any, chosen: Any, counts: Any, sums: Any) -> None:
    """Rows are added up as floats, and their sum is rounded once."""
    assert chosen is None
    cell, _ = self.lattice_vectors(block)
    y = self._in_steps(block) * self.cells.finer[cell][:, None]
    for each in np.unique(cell):
        sums[each] += np.rint(y[cell == each].sum(axis=0)).astype(np.int64)
        counts[each] += np.count_nonzero(cell == each)


def test_sums_of_floats_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with numpy_loops(monkeypatch):
        assert added_otherwise(GAUSSIAN, 0)[0] == []
        monkeypatch.setattr(CellSums, "_add_up", float_sums)
        (found,) = added_otherwise(GAUSSIAN, 0)[0]
    assert "step 'sum'" in found


def test_integers_that_went_through_floats_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    # Up to 2^53 floats are exact, so that it takes many rows.
    stage = many_clipped_rows(RHO)
    assert added_otherwise(stage, 0) == ([], 1)
    monkeypatch.setattr(
        clipped_sum,
        "_weighted",
        lambda totals, weights, longest: (weights.astype(float) @ totals.sums.astype(float)).astype(np.int64),
    )
    assert added_otherwise(stage, 0)[0]


def test_the_part_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_by_row, "stages", lambda plan: (GAUSSIAN, STAGES["mean, gaussian, n = 1, d = 1"]))
    part = row_by_row.RowByRow()
    assert not part.run(PLAN).broken
    monkeypatch.setattr(clipped_sum, "_weighted", lambda totals, weights, longest: np.abs(weights @ totals.sums))
    assert part.run(PLAN).broken


# --- mechanisms


def lost(mechanism: str) -> tuple[Fraction, list[str]]:
    """The largest share of what is paid, and the problems, over all attacks on one mechanism."""
    found = [paid_and_lost(attack, RHO) for attack in attacks(0) if attack.mechanism == mechanism]
    return max(share for share, _ in found), [problem for _, problems in found for problem in problems]


@pytest.mark.parametrize("mechanism", sorted({attack.mechanism for attack in attacks(0)}))
def test_each_mechanism_loses_what_it_pays_and_hardly_less(mechanism: str) -> None:
    share, problems = lost(mechanism)
    assert problems == []
    assert Fraction(999, 1000) < share <= 1


def test_two_percent_less_sensitivity_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MeteredNoise, "release", _release_with(squared_sensitivity=lambda D: max(1, D * 96 // 100)))
    for mechanism in ("clipped sum", "item sum, values", "counts below", "group sum"):
        assert lost(mechanism)[1], mechanism


def test_a_door_that_draws_too_little_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    a_door_that_draws_too_little(monkeypatch)
    _, problems = lost("counts by norm")
    assert "1.5000 times" in problems[0]


def test_truncation_that_was_forgotten_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        clipped_sum,
        "cell_weights",
        lambda cells, cell, finer: (np.full(len(cells.edges), 1 << finer), int(cells.bounds[cell]) << finer),
    )
    assert lost("clipped sum")[1]


def test_doubled_counts_without_their_factor_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        lattice_counts,
        "private_counts_below",
        lambda keys, at, noise, *, rho, step: noise.release(
            keys.twice_below(at), squared_sensitivity=keys.keys.shape[1], rho=rho, step=step
        ),
    )
    assert "4.0000 times" in lost("counts below")[1][0]


def test_rows_that_are_read_again_are_attacked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    within = ReadAgain.within
    monkeypatch.setattr(
        ReadAgain, "within", lambda keys, stage: replace(found := within(keys, stage), below=2 * found.below)
    )
    assert "4.0000 times" in lost("counts below")[1][0]


def test_the_finding_names_the_mechanism(monkeypatch: pytest.MonkeyPatch) -> None:
    few = [attack for attack in attacks(0) if attack.mechanism in ("clipped sum of squares", "counts by norm")]
    monkeypatch.setattr(mechanism_audit, "attacks", lambda number: iter(few))
    assert not mechanism_audit.Mechanisms().run(PLAN).broken
    monkeypatch.setattr(
        clipped_sum,
        "private_clipped_sum",
        lambda totals, cell, noise, **terms: CLIPPED_SUM(totals, cell, Halved(noise), **terms),
    )
    finding = mechanism_audit.Mechanisms().run(PLAN)
    assert finding.found == "BROKEN: clipped sum of squares"


# --- errors


def few_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted, awkward = refusals._wrong_arguments, refusals._awkward
    monkeypatch.setattr(refusals, "_wrong_arguments", lambda plan: iter([next(wanted(plan))]))
    monkeypatch.setattr(
        refusals, "_awkward", lambda plan: (made for made in awkward(plan) if made[0].startswith("mean, gaussian"))
    )


def test_errors_depend_on_public_arguments_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    few_refusals(monkeypatch)
    finding = refusals.Refusals().run(PLAN)
    assert not finding.broken, finding.detail
    assert "microseconds" in finding.detail


def test_refusals_of_items_and_events_are_fine_too() -> None:
    for front, release, tables, wrong in list(refusals._wrong_arguments(PLAN))[1:]:
        for name, arguments in wrong:
            assert refusals._refused(f"{front} {name}", release, tables, arguments)[0] == []


def test_rows_that_are_read_before_a_refusal_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    few_refusals(monkeypatch)
    mean = plandp.mean

    def hasty(data: Any, **arguments: Any) -> Any:
        next(iter(curator.open_rows(data).blocks()))
        return mean(data, **arguments)

    monkeypatch.setattr(plandp, "mean", hasty)
    assert "rows were read first" in refusals.Refusals().run(PLAN).detail


def test_reads_are_those_of_rows() -> None:
    with counted_reads() as reads:
        plandp.mean(np.zeros((3, 1)), bounds=(-1, 1), rho=1, method="gaussian")
    assert reads.calls > 3
    with counted_reads() as reads, pytest.raises(plandp.ArgumentError):
        plandp.mean(np.zeros((3, 1)), bounds=(1, -1), rho=1)
    assert reads.calls == 0


@pytest.mark.parametrize("front", [1, 2])
def test_reads_of_items_and_events_are_counted(front: int) -> None:
    name, release, (table, _), wrong = list(refusals._wrong_arguments(PLAN))[front]
    right = wrong[0][1] | ({"bounds": (0, 5)} if front == 1 else {"person": "user"})

    def hasty(data: Any, **arguments: Any) -> Any:
        if front == 1:
            open_sparse_rows(data, binary=False)
        else:
            lines = io.BytesIO(data.encode())
            lines.readline()
            list(csv_events.cell_blocks(csv_events.read_texts(lines, 1, False), lines, 2, b","))
        return release(data, **arguments)

    with counted_reads() as reads:
        release(table, **right)
    assert any(read.startswith("plandp.data") for read in reads.names)
    found, _ = refusals._refused(name, hasty, (table, table), wrong[0][1])
    assert any("rows were read first" in problem for problem in found)


def test_an_import_is_no_read() -> None:
    program = (
        "from fractions import Fraction\n"
        "from plandp.audit.plan import AuditPlan\n"
        "from plandp.audit.refusals import Refusals\n"
        "print(Refusals().run(AuditPlan(method='plan', rho=Fraction(1), seconds=0.0, false_alarm=0.01)).detail)"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.startswith("median time of a refusal"), printed


def test_messages_that_tell_about_rows_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    few_refusals(monkeypatch)
    mean = plandp.mean

    def talkative(data: Any, **arguments: Any) -> Any:
        try:
            return mean(data, **arguments)
        except plandp.ArgumentError as error:
            raise plandp.ArgumentError(
                error.argument, f"{error.problem} {np.isnan(np.array(data, float)).sum()}"
            ) from None

    monkeypatch.setattr(plandp, "mean", talkative)
    assert "in other words" in refusals.Refusals().run(PLAN).detail


def test_values_that_raise_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    few_refusals(monkeypatch)
    a_value_that_raises(monkeypatch)
    assert "values raised ValueError" in refusals.Refusals().run(PLAN).detail


# --- the watched door


def test_a_watched_release_calls_itself_insecure_and_changes_nothing_else() -> None:
    table = np.linspace(-1, 1, 40)[:, None]
    run = watched(lambda: plandp.mean(table, bounds=(-1, 1), rho=RHO, method="gaussian"), seed=5)
    assert run.release is not None
    assert run.release.receipt.insecure
    after = plandp.mean(table, bounds=(-1, 1), rho=RHO, method="gaussian")
    assert not after.receipt.insecure
    assert run.visible() != ()


def test_a_door_that_claims_to_be_secure_cannot_stand_in() -> None:
    def secure(reserved: Fraction) -> MeteredNoise:
        bits = meter.OsBits()
        return MeteredNoise(reserved=reserved, sampler=sampler.ExactSampler(bits), coins=bits)

    with meter.doors_made_by(secure), pytest.raises(TypeError, match="insecure"):
        plandp.mean(np.zeros((3, 1)), bounds=(-1, 1), rho=1)


def test_worst_tables_of_a_stage_differ_in_one_row() -> None:
    for name, stage in STAGES.items():
        if name.startswith("mean_of_events"):
            continue
        first, *others = [np.asarray(getattr(table, "toarray", lambda t=table: t)()) for table in stage.tables]
        for other in others:
            different = ~((first == other) | (np.isnan(first) & np.isnan(other))).all(axis=1)
            assert different.sum() <= 1, name


def test_every_front_door_is_on_stage() -> None:
    names = " ".join(STAGES)
    for word in ("plan", "unscaled", "gaussian", "binary", "nonnegative", "presence", "count", "time"):
        assert word in names
    only = stages(AuditPlan(method="gaussian", rho=RHO, seconds=0.0, false_alarm=0.0))
    assert {stage.name.split(", ")[1] for stage in only} == {"gaussian"}
    assert math.isfinite(worst_tables.extreme_rows(2, 2.0**599)["high corner"].max())
