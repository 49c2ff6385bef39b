"""Options that `plandp mean` and `plandp check` have in common, so that they read and mean the same."""

import argparse
from pathlib import Path


def add_column_options(group: "argparse._ArgumentGroup") -> None:
    """What is publicly known of the columns."""
    group.add_argument("--bounds", metavar="LOW:HIGH", help="between which values each column lies")
    group.add_argument("--bounds-file", metavar="CSV", type=Path, help="bounds by column: column,low,high")
    group.add_argument("--spread", metavar="VALUE", help="spreads that are publicly known")
    group.add_argument("--smallest-spread", metavar="VALUE", help="the finest spread that matters")


def add_cost_options(command: argparse.ArgumentParser) -> None:
    """The budget, in one of its two forms."""
    cost = command.add_argument_group("what it may cost")
    cost.add_argument("--rho", help="the budget as rho of zCDP, such as 0.5 or 1/8")
    cost.add_argument("--epsilon", type=float, help="the budget as epsilon, together with --delta")
    cost.add_argument("--delta", type=float, help="such as 1e-6; far below 1/n")


def add_method_options(group: "argparse._ArgumentGroup") -> None:
    """Which error is to be small, and by which method."""
    group.add_argument("--error-norm", metavar="P", type=float, default=2, help="make the l_P error small (default: 2)")
    group.add_argument(
        "--error-scale", metavar="VALUE", help="units in which errors count: bounds, or numbers (default: 1)"
    )
    group.add_argument("--method", default="plan", help="plan (the default), unscaled or gaussian")
