"""Whole releases of neighbouring tables, given the same answers: exact, so that there are no false alarms."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import combinations

from plandp.audit.choices import comparable, content, rate_problem, squared_distance
from plandp.audit.clock import Clock
from plandp.audit.finding import Finding
from plandp.audit.plan import AuditPlan
from plandp.audit.watching import SCRIPTS, Run, same_answers, watched
from plandp.audit.worst_tables import Stage, stages
from plandp.noise.watched import WatchedDoor
from plandp.terms.payment import DISCRETE_GAUSSIAN, EXPONENTIAL, Payment

SHOWN = 8
TELLING = 6  # so many rows of each stage are tried in the first round, all of them later
SEED = 20_000


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One way in which the promise is broken."""

    kind: str
    text: str


@dataclass(kw_only=True)
class Tally:
    """What was seen so far."""

    runs: int = 0
    pairs: int = 0
    furthest: dict[str, Fraction] = field(default_factory=dict)  # by step: ‖Δ‖² over the stated squared sensitivity
    problems: dict[str, Problem] = field(default_factory=dict)

    def add(self, problem: Problem) -> None:
        """Keep the problem, unless the same was seen elsewhere."""
        self.problems.setdefault(problem.text, problem)


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """Are queries as far apart as was paid for, draws as wide, the sum as asked, and all else bit for bit the same?"""

    name: str = "neighbours"

    def run(self, plan: AuditPlan) -> Finding:
        """Release every worst-case table, each time with other answers."""
        clock, tally = Clock(seconds=plan.seconds), Tally()
        tested = stages(plan)
        for number in clock.rounds():
            for stage in tested:
                if number and clock.left < 0:
                    break
                attack(stage, number, plan.rho, tally)
        kinds = sorted({problem.kind for problem in tally.problems.values()})
        most = float(max(tally.furthest.values(), default=Fraction(0))) ** 0.5
        by_step = ", ".join(f"{step} {float(ratio) ** 0.5:.3f}" for step, ratio in tally.furthest.items())
        return Finding(
            name=self.name,
            claim=f"equal answers: queries within their sensitivity, noise of variance D/2rho, payments of {plan.rho} "
            "in all, and every other bit the same",
            found=f"BROKEN: {', '.join(kinds)}"
            if kinds
            else f"{tally.pairs} pairs: up to {most:.6f} of the sensitivity",
            broken=bool(kinds),
            detail=_detail(tally)
            if kinds
            else f"{len(tested)} front doors, {tally.runs} releases; the furthest that a query "
            f"moved, over its stated sensitivity: {by_step}",
            false_alarm=0.0,
            runs=tally.runs,
        )


def _detail(tally: Tally) -> str:
    texts = [f"{problem.kind}: {problem.text}" for problem in tally.problems.values()]
    more = [f"… and {len(texts) - SHOWN} more"] if len(texts) > SHOWN else []
    return "\n".join(texts[:SHOWN] + more)


def attack(stage: Stage, number: int, rho: Fraction, tally: Tally) -> None:
    """Release all tables of the stage with the answers of one script, and compare each with each."""
    name, script = SCRIPTS[number % len(SCRIPTS)]
    seed = SEED + 2 * number
    rows, tables = stage.rows, stage.tables
    if number == 0:
        rows, tables = rows[:TELLING], tables[:TELLING]
    # the table that is answered freely changes from round to round: the others have to live with its answers
    turn = number % len(tables)
    first = watched(partial(stage.release, tables[turn]), seed=seed, script=script)
    runs = [
        first if place == turn else watched(partial(stage.release, table), seed=seed, script=same_answers(first))
        for place, table in enumerate(tables)
    ]
    where = f"{stage.name} ({name})"
    tally.runs += len(runs)
    for run, row in zip(runs, rows, strict=True):
        for problem in book_problems(run, rho):
            tally.add(Problem(kind=problem.kind, text=f"{where}, a row of {row!r}: {problem.text}"))
    for problem in _path_problems(runs, rows, turn):
        tally.add(Problem(kind=problem.kind, text=f"{where}: {problem.text}"))
    compare(runs, rows, where, tally)


def book_problems(run: Run, rho: Fraction) -> list[Problem]:
    """What is wrong with one release on its own: what it raised, drew and paid."""
    found = []
    if run.raised.startswith("BudgetExceeded"):
        found.append(Problem(kind="accounting", text="more than the budget was asked for"))
    elif run.raised:
        found.append(Problem(kind="values raise", text=f"raised {run.raised}"))
    if run.warned:
        found.append(Problem(kind="values warn", text=f"warned {run.warned[0]}"))
    if len(run.doors) != 1:
        found.append(Problem(kind="accounting", text=f"{len(run.doors)} doors were opened instead of one"))
        return found
    (door,) = run.doors
    asked = [
        Payment(
            step=one.step,
            rho=one.rho,
            squared_sensitivity=one.squared_sensitivity,
            values=one.query.size,
            mechanism=EXPONENTIAL if one.candidates else DISCRETE_GAUSSIAN,
        )
        for one in door.asked
    ]
    if run.release is not None and tuple(asked) != door.payments:
        found.append(Problem(kind="accounting", text="the door booked other payments than it was asked for"))
    found += _choice_problems(door, [payment for payment in asked if payment.mechanism == EXPONENTIAL])
    asked = [payment for payment in asked if payment.mechanism == DISCRETE_GAUSSIAN]
    wanted = [(payment.values, payment.squared_sensitivity / (2 * payment.rho)) for payment in asked]
    drawn = door.watched.drawn if run.release is not None else door.watched.drawn[: len(wanted)]
    if [count for count, _ in drawn] != [count for count, _ in wanted]:
        found.append(Problem(kind="unpaid draws", text=f"{len(drawn)} draws for {len(wanted)} queries"))
    elif drawn != wanted:
        wrong = next(place for place, (a, b) in enumerate(zip(drawn, wanted, strict=True)) if a != b)
        ratio, step = float(drawn[wrong][1] / wanted[wrong][1]), asked[wrong].step
        found.append(
            Problem(kind="wrong noise", text=f"step {step!r} drew noise of {ratio:.4f} times the variance that is due")
        )
    if not all(asked.noise_added for asked in door.asked):
        found.append(Problem(kind="noise not added", text="an answer was not the query plus what was drawn"))
    total = sum((payment.rho for payment in door.payments), Fraction(0))
    receipt = rho if run.release is None else run.release.receipt.rho
    if run.release is not None and not total == receipt == door.spent == rho:
        found.append(Problem(kind="accounting", text=f"payments add up to {total}, receipt {receipt}, asked {rho}"))
    if run.release is not None and run.release.receipt.payments != door.payments:
        found.append(Problem(kind="accounting", text="the receipt does not list the payments"))
    return found


def _choice_problems(door: WatchedDoor, paid: list[Payment]) -> list[Problem]:
    """What is wrong with how many choices were made, and how closely they follow their penalties."""
    if [count for count, _ in door.chosen[: len(paid)]] != [payment.values for payment in paid]:
        return [Problem(kind="unpaid draws", text=f"{door.chosen} choices for {len(paid)} payments")]
    found = [
        (payment.step, rate_problem(rate, squared_sensitivity=payment.squared_sensitivity, rho=payment.rho))
        for payment, (_, rate) in zip(paid, door.chosen, strict=False)
    ]
    return [Problem(kind="wrong noise", text=f"step {step!r} {problem}") for step, problem in found if problem]


def _path_problems(runs: Sequence[Run], rows: Sequence[str], turn: int) -> list[Problem]:
    """Where another table with the same answers led to anything else than other values in the queries."""
    found = []
    first = runs[turn]
    for run, row in zip(runs, rows, strict=True):
        pair = f"rows of {rows[turn]!r} and {row!r}"
        if _public(run) != _public(first):
            found.append(Problem(kind="values decide what is asked", text=f"{pair} lead to other queries or payments"))
        elif run.visible() != first.visible():
            found.append(
                Problem(kind="released bits", text=f"{pair} show in released numbers, though answers are equal")
            )
    return found


def _public(run: Run) -> tuple[object, ...]:
    """What must not depend on values, given equal answers."""
    asked = [
        (a.step, a.squared_sensitivity, a.rho, a.query.shape, a.query.dtype.name, a.candidates and a.query.tolist())
        for a in run.asked
    ]
    release = run.release
    seen = () if release is None else (release.receipt.passes, release.warnings, release.estimate.shape, release.labels)
    return asked, run.raised, run.warned, seen


def compare(runs: Sequence[Run], rows: Sequence[str], where: str, tally: Tally) -> None:
    """The distance of every query between every two tables, exactly, against its stated sensitivity."""
    shortest = min(len(run.asked) for run in runs)
    asked = [run.asked[:shortest] for run in runs]
    tally.pairs += len(runs) * (len(runs) - 1) // 2
    for number in range(shortest):
        distinct = {content(book[number]): place for place, book in enumerate(asked)}
        for one, other in combinations(distinct.values(), 2):
            queries = asked[one][number], asked[other][number]
            if not comparable(*queries):
                continue
            ratio = Fraction(squared_distance(*queries), min(query.squared_sensitivity for query in queries))
            step = asked[0][number].step
            tally.furthest[step] = max(ratio, tally.furthest.get(step, Fraction(0)))
            if ratio > 1:
                pair = f"rows of {rows[one]!r} and {rows[other]!r}"
                text = f"{where}: step {step!r} moves by {float(ratio) ** 0.5:.4f} of its sensitivity between {pair}"
                tally.add(Problem(kind="sensitivity", text=text))
