"""`plandp audit`: attacks on the installed library, and what they found."""

import argparse
import sys

from plandp.cli.values import read_number
from plandp.errors import PlandpError

EXAMPLES = """\
examples:
  plandp audit
      five minutes of attacks on all methods, at rho = 0.5
  plandp audit --method plan --rho 2 --minutes 60
      one method, another budget, and more time: bounds get tighter
  plandp audit --minutes 0.3 --details
      everything once, with what each part has to say
  plandp audit --json > audit.json
      JSON on standard output and nothing else

No data of yours is read: the audit makes its own tables, as far apart as
neighbours can be.  Exact parts compare queries and payments and raise no false
alarms; statistical parts bound the loss of privacy from below.  A correct
library is called broken in at most 1 of 10,000 audits.

exit codes: 0 no part found a broken promise; 1 broken, or failed; 2 wrong usage
or arguments
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Describe the command to argparse."""
    command = commands.add_parser(
        "audit",
        help="attack the installed library and say whether its promises hold",
        description="Attack the installed library with worst-case neighbouring tables and say what was found.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("--method", default="all", help="one method of plandp.mean, or all (the default)")
    command.add_argument("--rho", default="0.5", help="the budget that releases are asked to keep (default: 0.5)")
    command.add_argument("--minutes", default="5", help="how long (default: 5); every part runs at least once")
    command.add_argument("--details", action="store_true", help="also show what each part has to say")
    command.add_argument("--json", action="store_true", help="print the findings as JSON instead of words")
    command.set_defaults(run=run)


def run(asked: argparse.Namespace) -> None:
    """Audit, show what was found, and fail if a promise is broken."""
    from plandp.audit.audit import audit  # here, since it imports much that no other command needs

    found = audit(
        method=asked.method,
        rho=asked.rho,
        minutes=read_number("minutes", asked.minutes),
        told=lambda name: print(f"auditing: {name} …", file=sys.stderr),
    )
    if asked.json:
        print(found.to_json())
    else:
        print(found)
        if asked.details:
            print(f"\n{found.details()}")
    if found.broken:
        raise PlandpError(f"THE AUDIT FOUND BROKEN PROMISES: {', '.join(found.broken)}")
