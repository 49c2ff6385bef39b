"""`plandp events`: how much of each item people have on average, from a file with one row per event."""

import argparse
import os
import sys
from pathlib import Path

import plandp
from plandp.cli.items_file import read_items_file
from plandp.cli.release_output import add_output_options, show_and_keep
from plandp.cli.shared_options import (
    add_cost_options,
    add_ledger_options,
    add_refine_option,
    asked_refine,
    asked_rho,
    refuse_no_budget,
)
from plandp.cli.values import read_bounds, read_count, read_number, read_numbers
from plandp.data.event_file import EVENT_FILES
from plandp.errors import ArgumentError

EXAMPLES = """\
examples:
  plandp events visits.csv --person user --item page --items-file pages.txt \\
      --people 75462 --rho 0.5
      which share of 75,462 people visited each page of pages.txt
  plandp events visits.csv --person user --item page --items-file pages.txt \\
      --people 75462 --rho 0.5 --measure count --bounds 0:50
      how often, on average; more than 50 visits of a page count as 50
  plandp events sales.parquet --person customer --item product \\
      --items-file products.txt --people 1e6 --measure amount --bounds 0:1000 \\
      --epsilon 1 --delta 1e-8 --out release.json --plot means.svg
      the mean of what each customer spent on each product
  plandp check --n 75462 --d 3 --kind binary --error-norm 1 --rho 0.5
      what to expect, before anything is spent: --n people, --d items; for
      counts and sums --kind nonnegative with the same --bounds

The privacy unit is the person: all events of one person are protected together.
Items (one per line of the items file) and the number of people are public
knowledge, never taken from the events.  People without events count as zeros;
if the file has more people than --people, a public hash decides who counts, and
the means are about those: no stated error covers that they are a sample.

Events of other items, and without a person or an item, do not count.  Ids are
exact texts: 007 is not 7.  In CSV and TSV files an empty cell is missing, and
so is a whole row of the wrong length.

exit codes: 0 done; 1 failed; 2 wrong usage or arguments (nothing was released);
3 more than the ledger has left (nothing was read); 130 stopped
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Describe the command to argparse."""
    command = commands.add_parser(
        "events",
        help="release means over people from a file of events",
        description="Release how much of each item people have on average, from one row per event.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("data", metavar="FILE", type=Path, help=f"one row per event: {', '.join(EVENT_FILES)}")
    what = command.add_argument_group("what is public")
    what.add_argument("--person", metavar="COLUMN", required=True, help="the column that says whose event it is")
    what.add_argument("--item", metavar="COLUMN", required=True, help="the column that says of which item")
    what.add_argument(
        "--items-file",
        metavar="TXT",
        type=Path,
        required=True,
        help="all items, one per line, in UTF-8, without a headline",
    )
    what.add_argument("--people", metavar="N", required=True, help="the number of people, such as 75462 or 1e6")
    what.add_argument(
        "--measure",
        metavar="WHAT",
        default="presence",
        help="presence (the default), count, or a column whose values are added up",
    )
    what.add_argument("--bounds", metavar="0:HIGH", help="the most of an item that one person can have")
    add_cost_options(command)
    add_ledger_options(command)
    how = command.add_argument_group("how")
    how.add_argument("--error-norm", metavar="P", default="1", help="make the l_P error small (default: 1)")
    how.add_argument("--error-scale", metavar="VALUE", help="units in which errors count: bounds, or numbers")
    add_refine_option(how)
    how.add_argument("--sampler", default="exact", help="exact (the default) or opendp")
    add_output_options(command)
    command.set_defaults(run=run)


def run(asked: argparse.Namespace) -> None:
    """Release the means, show them and keep them."""
    show_and_keep(asked, _release, notes=())


def _release(asked: argparse.Namespace) -> plandp.MeanRelease:
    refuse_no_budget(asked)
    events = os.path.expanduser(asked.data)
    if os.path.exists(events) and os.path.exists(asked.items_file) and os.path.samefile(events, asked.items_file):
        raise ArgumentError("items_file", "is the file of events; name a file with the public list of items")
    scale = asked.error_scale
    return plandp.mean_of_events(
        asked.data,
        person=asked.person,
        item=asked.item,
        items=read_items_file(asked.items_file),
        people=read_count("people", asked.people),
        measure=asked.measure,
        bounds=None if asked.bounds is None else read_bounds(asked.bounds),
        rho=asked_rho(asked),
        epsilon=asked.epsilon,
        delta=asked.delta,
        error_norm=read_number("error_norm", asked.error_norm),
        error_scale=scale if scale in (None, "bounds") else read_numbers("error_scale", scale),
        refine=asked_refine(asked),
        sampler=asked.sampler,
        ledger=asked.ledger,
        dataset=asked.dataset,
        progress=sys.stderr.isatty() if asked.progress is None else asked.progress,
    )
