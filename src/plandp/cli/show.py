"""`plandp show`: a release that was kept, as a table, as JSON or as a picture."""

import argparse
from pathlib import Path

from plandp.cli.output_file import reserved
from plandp.cli.picture_file import check_picture, draw
from plandp.errors import ArgumentError
from plandp.report.table import release_text
from plandp.terms.release import MeanRelease

EXAMPLES = """\
examples:
  plandp show release.json                     table, warnings and receipt
  plandp show release.json --plot means.svg    and a picture of it

Everything in a release may be published; showing it costs nothing.
exit codes: 0 done; 1 failed; 2 wrong usage or arguments
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Describe the command to argparse."""
    command = commands.add_parser(
        "show",
        help="show a release that `--out` of mean or events wrote",
        description="Show a release that `plandp mean --out` or `plandp events --out` wrote.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("data", metavar="FILE", type=Path, help="the JSON file of the release")
    command.add_argument("--json", action="store_true", help="print the release as JSON instead of a table")
    command.add_argument("--plot", metavar="PICTURE", type=Path, help="draw the release: .svg, .png or .pdf")
    command.set_defaults(run=run)


def run(asked: argparse.Namespace) -> None:
    """Print the release, and draw it if that was asked for."""
    release = _read_release(asked.data)
    if asked.plot is not None:
        check_picture(asked.plot)
        with reserved(asked.plot, "plot") as write:
            draw(release, asked.plot, write)
    print(release.to_json() if asked.json else release_text(release))


def _read_release(path: Path) -> MeanRelease:
    try:
        return MeanRelease.from_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        problem = f"{str(path)!r} cannot be read: {error.strerror}"
    except ArgumentError:
        problem = f"{str(path)!r} is not a release, or not of this version; name a file that `plandp mean --out` wrote"
    except UnicodeDecodeError:
        problem = f"{str(path)!r} is not a release: it is not UTF-8 text"
    raise ArgumentError("data", problem)
