"""`plandp ledger`: budgets that last longer than one run; made, shown, checked and exported."""

import argparse
import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import plandp
from plandp.cli.output_file import reserved
from plandp.cli.picture_file import check_picture, draw, write_picture
from plandp.cli.release_output import check_new
from plandp.cli.shared_options import add_cost_options, refuse_no_budget
from plandp.cli.values import read_count
from plandp.errors import ArgumentError
from plandp.report.budget_picture import draw_budget
from plandp.report.ledger_table import dataset_text, history_text, ledger_text
from plandp.report.table import release_text

EXAMPLES = """\
examples:
  plandp ledger create budget.sqlite survey-2026 --rho 2
      survey-2026 may cost rho = 2 in all; each row of it is protected
  plandp ledger create budget.sqlite visits --epsilon 3 --delta 1e-6 \\
      --person user
      protects people: all rows of one value of the column user
  plandp mean survey.csv --bounds 0:100 --rho 0.5 --ledger budget.sqlite \\
      --dataset survey-2026
      spends of it; refused before a row is read when less is left
      (exit code 3); --rho left spends all that is left
  plandp ledger show budget.sqlite
      what is spent and left of every dataset
  plandp ledger show budget.sqlite survey-2026 --plot budget.svg
      what became of each reservation, and the budget over time
  plandp ledger release budget.sqlite survey-2026 2
      the release of reservation 2 again, at no cost
  plandp ledger history budget.sqlite survey-2026
  plandp ledger verify budget.sqlite
  plandp ledger export budget.sqlite --out ledger.json

LEDGER is a file, or a URL such as postgresql://user@host/database.  Budget is
spent when it is reserved, before any row value is read.  A run that was stopped
after that has spent it and is shown as interrupted.

A ledger keeps from mistakes, not from somebody who can write to its file.  A
backup that is put back forgets what was spent since, and two names for the same
data are two budgets: give the same data one name.

exit codes: 0 done; 1 failed, or the ledger is damaged; 2 wrong usage or
arguments
"""

# Arguments without dashes, as messages call them.
PLACES = {"ledger": "LEDGER", "dataset": "DATASET", "number": "NUMBER"}


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Describe the command and its parts to argparse."""
    command = commands.add_parser(
        "ledger",
        help="keep a budget for all releases of a dataset together",
        description="Keep the budget of datasets, so that all releases together never cost more.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parts = command.add_subparsers(title="what to do", metavar="ACTION", required=True)
    create = _add(parts, "create", _create, "give a dataset its total budget, once and for all")
    create.add_argument("dataset", metavar="DATASET", help="a name for the data and all its copies")
    add_cost_options(create)
    create.add_argument("--person", metavar="COLUMN", help="protect people: all rows of one value of this column")
    show = _add(parts, "show", _show, "show what is spent and left")
    show.add_argument("dataset", metavar="DATASET", nargs="?", help="one dataset, with its reservations")
    show.add_argument("--json", action="store_true", help="print JSON instead of a table")
    show.add_argument("--plot", metavar="PICTURE", type=Path, help="draw the budget over time: .svg, .png or .pdf")
    history = _add(parts, "history", _history, "show every entry of a dataset")
    history.add_argument("dataset", metavar="DATASET", help="the dataset")
    history.add_argument("--json", action="store_true", help="print JSON instead of a table")
    release = _add(parts, "release", _release, "show a stored release again, at no cost")
    release.add_argument("dataset", metavar="DATASET", help="the dataset")
    release.add_argument("number", metavar="NUMBER", help="the number of its reservation, as `show` lists it")
    release.add_argument("--json", action="store_true", help="print the release as JSON instead of a table")
    release.add_argument("--plot", metavar="PICTURE", type=Path, help="draw the release: .svg, .png or .pdf")
    verify = _add(parts, "verify", _verify, "check that every entry and release is as it was written")
    verify.add_argument("--json", action="store_true", help="print JSON instead of words")
    export = _add(parts, "export", _export, "write everything as JSON")
    export.add_argument("--out", metavar="FILE", type=Path, help="a new file, instead of standard output")


def _add(
    parts: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    run: Callable[[argparse.Namespace], None],
    told: str,
) -> argparse.ArgumentParser:
    part = parts.add_parser(name, help=told, description=told.capitalize() + ".")
    part.add_argument("ledger", metavar="LEDGER", help="the file of the ledger, or its URL")
    part.set_defaults(run=run, places=PLACES)
    return part


def _create(asked: argparse.Namespace) -> None:
    refuse_no_budget(asked)
    status = plandp.Ledger(asked.ledger).register(
        asked.dataset, rho=asked.rho, epsilon=asked.epsilon, delta=asked.delta, person=asked.person
    )
    print(dataset_text(status))


def _show(asked: argparse.Namespace) -> None:
    ledger = plandp.Ledger(asked.ledger)
    if asked.plot is not None and asked.dataset is None:
        raise ArgumentError("dataset", "is missing; name the dataset whose budget is to be drawn")
    if asked.dataset is None:
        datasets = ledger.datasets()
        print(_json([status.to_dict() for status in datasets]) if asked.json else ledger_text(datasets))
        return
    status = ledger.status(asked.dataset)
    if asked.plot is not None:
        check_picture(asked.plot)
        with reserved(asked.plot, "plot") as write:
            write_picture(draw_budget(status), asked.plot, write)
    print(_json(status.to_dict()) if asked.json else dataset_text(status))


def _history(asked: argparse.Namespace) -> None:
    entries = plandp.Ledger(asked.ledger).history(asked.dataset)
    print(_json([entry.to_dict() for entry in entries]) if asked.json else history_text(entries))


def _release(asked: argparse.Namespace) -> None:
    release = plandp.Ledger(asked.ledger).release(asked.dataset, read_count("number", asked.number))
    if asked.plot is not None:
        check_picture(asked.plot)
        with reserved(asked.plot, "plot") as write:
            draw(release, asked.plot, write)
    print(release.to_json() if asked.json else release_text(release))


def _verify(asked: argparse.Namespace) -> None:
    verified = plandp.Ledger(asked.ledger).verify()
    if asked.json:
        print(_json(verified.to_dict()))
        return
    print(f"As written: {verified.entries} entries, {verified.releases} releases.")
    for dataset, head in verified.heads.items():
        print(f"  {dataset}: last entry {head}")
    if verified.heads:
        print("A copy of these hashes, kept elsewhere, shows later whether the end was cut off.")


def _export(asked: argparse.Namespace) -> None:
    if asked.out is not None:
        check_new(asked.out)
    with nullcontext() if asked.out is None else reserved(asked.out, "out") as write:
        text = _json(plandp.Ledger(asked.ledger).export())
        if write is None:
            print(text)
        else:
            write(f"{text}\n".encode())


def _json(values: object) -> str:
    return json.dumps(values, indent=1, ensure_ascii=False)
