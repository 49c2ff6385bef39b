"""What becomes of a release on the command line: shown, kept and drawn, and never lost once it is paid for."""

import argparse
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import plandp
from plandp.cli.output_file import reserved
from plandp.cli.picture_file import check_picture, draw
from plandp.errors import ArgumentError
from plandp.report.table import release_text


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
            _check_new(asked.out)
            keep = files.enter_context(reserved(asked.out, "out"))
        if asked.plot is not None:
            check_picture(asked.plot)
            if asked.plot == asked.out:
                raise ArgumentError("plot", "must be another file than --out")
            draw_to = files.enter_context(reserved(asked.plot, "plot"))
        release = release_of(asked)
        text = release.to_json() if asked.json or keep is not None else ""  # of a million items it takes seconds
        if keep is not None:
            try:
                keep(f"{text}\n".encode())
            except OSError:
                _show(text, None)  # not lost: it has been paid for
                raise
        try:
            _show(text if asked.json else release_text(release, notes=notes), asked.out)
        finally:  # also when nobody reads on, as in `plandp mean ... | head`
            if draw_to is not None:
                draw(release, asked.plot, draw_to)


def _show(text: str, kept: Path | None) -> None:
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        fate = (
            "the release is lost, though its budget is spent; --out keeps one in a file that is made sure of first"
            if kept is None
            else f"the release is in {str(kept)!r}"
        )
        raise OSError(f"standard output cannot be written ({error.strerror}): {fate}") from None


def _check_new(path: Path) -> None:
    if path.exists():
        raise ArgumentError(
            "out", f"{str(path)!r} exists, and may hold a release that was paid for; name a new file, or remove it"
        )
