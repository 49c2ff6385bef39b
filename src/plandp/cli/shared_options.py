"""Options that commands have in common, so that they read and mean the same."""

import argparse
from fractions import Fraction
from pathlib import Path

import plandp
from plandp.cli.bounds_file import read_bounds_file
from plandp.cli.values import Pair, read_bounds
from plandp.errors import ArgumentError, BudgetExceeded
from plandp.terms.choices import check_kind


def add_column_options(group: "argparse._ArgumentGroup") -> None:
    """What is publicly known of the columns."""
    group.add_argument(
        "--bounds", metavar="LOW:HIGH", help="between which values each column lies; 0:100 for all, or by name"
    )
    group.add_argument("--bounds-file", metavar="CSV", type=Path, help="bounds by column: column,low,high")
    group.add_argument("--spread", metavar="VALUE", help="spreads that are publicly known")
    group.add_argument("--smallest-spread", metavar="VALUE", help="the finest spread that matters")


def add_cost_options(command: argparse.ArgumentParser) -> None:
    """The budget, in one of its two forms."""
    cost = command.add_argument_group("what it may cost")
    cost.add_argument("--rho", help="the budget as rho of zCDP, such as 0.5 or 1/8")
    cost.add_argument("--epsilon", help="the budget as epsilon, together with --delta")
    cost.add_argument("--delta", help="such as 1e-6; far below 1/n")


def add_ledger_options(command: argparse.ArgumentParser) -> None:
    """Whose budget is spent, where a ledger keeps it."""
    account = command.add_argument_group("whose budget is spent", "with --rho left: all that is left of it")
    account.add_argument("--ledger", metavar="LEDGER", help="the file or URL of the ledger that keeps the budget")
    account.add_argument("--dataset", metavar="NAME", help="the dataset whose budget in the ledger is spent")


def add_method_options(group: "argparse._ArgumentGroup") -> None:
    """Which error is to be small, and by which method."""
    group.add_argument("--error-norm", metavar="P", default="2", help="make the l_P error small (default: 2)")
    group.add_argument(
        "--error-scale", metavar="VALUE", help="units in which errors count: bounds, or numbers (default: 1)"
    )
    group.add_argument(
        "--method",
        default="plan",
        help="plan (the default), unscaled, gaussian, plan-classic, iome, coinpress or mahalanobis",
    )


def add_refine_option(group: "argparse._ArgumentGroup") -> None:
    """Post-processing of sparse means."""
    group.add_argument(
        "--refine", metavar="A,B", help="post-processing: combine,shrink,clamp (the default), some of them, or none"
    )


def asked_refine(asked: argparse.Namespace) -> list[str] | None:
    """Return the post-processing of --refine; None leaves the choice to plandp."""
    if asked.refine is None:
        return None
    return [] if asked.refine == "none" else [name.strip() for name in asked.refine.split(",")]


def asked_rho(asked: argparse.Namespace) -> str | Fraction | None:
    """Return the budget of --rho; `left` is all that the ledger has left of the dataset."""
    if asked.rho != "left":
        return None if asked.rho is None else str(asked.rho)
    if asked.ledger is None or asked.dataset is None:
        raise ArgumentError("rho", "left is for a budget that a ledger keeps; name it by --ledger and --dataset")
    left = plandp.Ledger(asked.ledger).status(asked.dataset).left
    if not left:
        raise BudgetExceeded(f"dataset {asked.dataset!r} has nothing left; nothing was read")
    return left


def refuse_no_budget(asked: argparse.Namespace) -> None:
    """Ask for a budget before anything else is read."""
    if asked.rho is None and asked.epsilon is None and asked.delta is None:
        raise ArgumentError("rho", "is missing; give --rho 0.5, or --epsilon 1 --delta 1e-6")


def asked_bounds(asked: argparse.Namespace) -> Pair | list[Pair] | dict[str, Pair] | None:
    """Return the bounds of --bounds or --bounds-file, of which one must be given for real numbers."""
    check_kind(asked.kind)
    if asked.bounds is not None and asked.bounds_file is None:
        return read_bounds(asked.bounds)
    if asked.bounds is None and asked.bounds_file is not None:
        return read_bounds_file(asked.bounds_file)
    if asked.bounds is not None:
        raise ArgumentError("bounds", "must not be given together with --bounds-file; give one of them")
    if asked.kind != "real":  # then plandp says itself what they can be
        return None
    raise ArgumentError(
        "bounds",
        "say between which values each column can lie, with --bounds 0:100, --bounds age=0:120,income=0:1e6 or "
        "--bounds-file bounds.csv, one of them; bounds are public knowledge, never read from the data",
    )
