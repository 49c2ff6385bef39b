"""What becomes of a release on the command line: shown, kept and drawn, and never lost once it is paid for."""

import argparse
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import plandp
from plandp.cli.output_file import reserved
from plandp.cli.picture_file import check_picture, draw
from plandp.errors import ArgumentError, LedgerDamaged, LedgerUnavailable
from plandp.report.table import release_text
from plandp.spending import stored_note
from plandp.stopping import stops_stay_stops

NOTHING_RELEASED = "nothing was released"


def add_output_options(command: argparse.ArgumentParser) -> None:
    """What is shown and kept."""
    shown = command.add_argument_group("what is shown and kept")
    shown.add_argument("--json", action="store_true", help="print the release as JSON instead of a table")
    shown.add_argument("--out", metavar="RELEASE", type=Path, help="keep the release as JSON in a new file")
    shown.add_argument("--plot", metavar="PICTURE", type=Path, help="draw the release: .svg, .png or .pdf")
    shown.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        help="show bars while the file is read; on a terminal they are shown unless told otherwise",
    )


def show_and_keep(
    asked: argparse.Namespace, release_of: Callable[[argparse.Namespace], plandp.MeanRelease], *, notes: tuple[str, ...]
) -> None:
    """Make the release; where it is written to is made sure of first, since it is paid for only once."""
    with ExitStack() as files:
        keep = draw_to = None
        if asked.out is not None:
            check_new(asked.out)
            keep = files.enter_context(reserved(asked.out, "out"))
        if asked.plot is not None:
            check_picture(asked.plot)
            if asked.plot == asked.out:
                raise ArgumentError("plot", "must be another file than --out")
            draw_to = files.enter_context(reserved(asked.plot, "plot"))
        try:
            release, unstored = _paid(asked, release_of)
        except KeyboardInterrupt as stop:
            if asked.ledger is None:
                stop.add_note(NOTHING_RELEASED)
            raise
        stored = asked.ledger is not None and unstored is None
        try:
            with stops_stay_stops():
                _hand_over(release, asked, keep, draw_to, notes, stored=stored)
        except KeyboardInterrupt as stop:
            if stored:
                stop.add_note(stored_note(release.receipt.rho, asked.dataset))
            raise
        except BrokenPipeError:
            if unstored is None:
                raise
        if unstored is not None:
            raise unstored


def _paid(
    asked: argparse.Namespace, release_of: Callable[[argparse.Namespace], plandp.MeanRelease]
) -> tuple[plandp.MeanRelease, LedgerDamaged | LedgerUnavailable | None]:
    """Return the release, and the error of a ledger that could not store it, after it was paid for."""
    try:
        return release_of(asked), None
    except (LedgerDamaged, LedgerUnavailable) as error:
        if error.release is None:
            raise
        error.add_note(f"the release of dataset {asked.dataset!r} was shown, and kept as asked: the ledger lacks it")
        return error.release, error


def _hand_over(
    release: plandp.MeanRelease,
    asked: argparse.Namespace,
    keep: Callable[[bytes], None] | None,
    draw_to: Callable[[bytes], None] | None,
    notes: tuple[str, ...],
    *,
    stored: bool,
) -> None:
    in_ledger = "stored in the ledger, and `plandp ledger release` shows it again" if stored else None
    text = release.to_json() if asked.json or keep is not None else ""  # of a million items it takes seconds
    if keep is not None:
        try:
            keep(f"{text}\n".encode())
        except OSError:
            _show(text, in_ledger)  # not lost: it has been paid for
            raise
    try:
        _show(
            text if asked.json else release_text(release, notes=notes), f"in {str(asked.out)!r}" if keep else in_ledger
        )
    finally:  # also when nobody reads on, as in `plandp mean ... | head`
        if draw_to is not None:
            draw(release, asked.plot, draw_to)


def _show(text: str, kept: str | None) -> None:
    """Print a release, or say where else it is."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        fate = (
            "the release is lost, though its budget is spent; --out keeps one in a file that is made sure of first"
            if kept is None
            else f"the release is {kept}"
        )
        raise OSError(f"standard output cannot be written ({error.strerror}): {fate}") from None


def check_new(path: Path) -> None:
    """Refuse to write over a file that is there."""
    if path.exists():
        raise ArgumentError(
            "out", f"{str(path)!r} exists, and may hold a release that was paid for; name a new file, or remove it"
        )
