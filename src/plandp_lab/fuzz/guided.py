"""`python -m plandp_lab.fuzz.guided --seconds 60`: the same targets, guided by plandp's coverage (needs atheris)."""

import argparse
import os
import sys
import time
from collections import Counter
from tempfile import gettempdir
from typing import Any


def main() -> int:
    """Run one target after the other, each in this process, and print how many inputs were tried."""
    parser = argparse.ArgumentParser(prog="python -m plandp_lab.fuzz.guided", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--only", default="releases", help="a target of python -m plandp_lab.fuzz")
    asked = parser.parse_args()
    try:
        import atheris  # type: ignore  # for Linux only, and not among the extras
    except ImportError:
        print("atheris is not installed, so nothing was tried; pip install atheris, or use python -m plandp_lab.fuzz")
        return 0
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # code that tells its branches cannot be compiled
    with atheris.instrument_imports(include=["plandp"]):
        import plandp.cli.main  # noqa: F401  # so that plandp tells which of its branches were taken
    return _guide(atheris, asked.only, asked.seconds)


def _guide(atheris: Any, name: str, seconds: int) -> int:
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    from plandp_lab.fuzz.targets import TARGETS

    target = next((target for target in TARGETS if target.name == name), None)
    if target is None:
        print(f"--only must be one of {', '.join(target.name for target in TARGETS)}")
        return 2
    ends: Counter[str] = Counter()
    begun = time.monotonic()

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def case(data: Any) -> None:
        ends[target.case(data.draw)] += 1

    def one_input(content: bytes) -> None:
        case.hypothesis.fuzz_one_input(content)  # type: ignore[attr-defined]
        if time.monotonic() - begun > seconds:  # libFuzzer leaves the process without a word
            print(f"{name}: {ends.total():,} cases, " + ", ".join(f"{count:,} {end}" for end, count in ends.items()))
            sys.stdout.flush()
            os._exit(0)

    atheris.Setup(
        [sys.argv[0], "-max_len=8192", "-verbosity=0", "-print_final_stats=0", f"-artifact_prefix={gettempdir()}/"],
        one_input,
    )
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
