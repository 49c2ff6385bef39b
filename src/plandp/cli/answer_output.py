"""What `plandp check` and `plandp compare` show and keep: an answer that costs nothing, in words or JSON, and drawn."""

import argparse
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from plandp.cli.output_file import reserved
from plandp.cli.picture_file import check_picture, draw
from plandp.cli.shared_options import refuse_no_budget
from plandp.terms.check import Check
from plandp.terms.comparison import Comparison


def add_answer_options(command: argparse.ArgumentParser, *, answer: str, drawn: str) -> None:
    """Describe them to argparse."""
    shown = command.add_argument_group("what is shown and kept")
    shown.add_argument("--json", action="store_true", help=f"print the {answer} as JSON instead of words")
    shown.add_argument("--plot", metavar="PICTURE", type=Path, help=f"draw {drawn}: .svg, .png or .pdf")


def show_answer(asked: argparse.Namespace, ask: Callable[[argparse.Namespace], Check | Comparison]) -> None:
    """Print the answer; draw it where asked, in a file that is made sure of before."""
    with ExitStack() as files:
        draw_to = None
        if asked.plot is not None:
            check_picture(asked.plot)
            draw_to = files.enter_context(reserved(asked.plot, "plot"))
        refuse_no_budget(asked)
        found = ask(asked)
        print(found.to_json() if asked.json else found)
        if draw_to is not None:
            draw(found, asked.plot, draw_to)
