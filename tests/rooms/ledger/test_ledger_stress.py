"""Never overspent: many processes and threads at once, killed at random, on SQLite and on PostgreSQL."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("stress_run.py")
RUSH = Path(__file__).with_name("rush_run.py")
ONE_THREAD_EACH = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def torment(place, folder, release, *, operations, kills):
    (folder / "release.json").write_text(release.to_json())
    asked = [sys.executable, PROGRAM, place, folder, str(operations), str(kills), "5"]
    done = subprocess.run(asked, capture_output=True, text=True, env=ONE_THREAD_EACH, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    counted = json.loads(done.stdout)
    sys.stdout.write(f"{ ({name: value for name, value in counted.items() if name != 'killed'}) }\n")
    assert counted["faults"] == []
    assert counted["operations"] >= operations
    assert counted["kills"] >= kills
    # The run was what it should be: budgets were used up, refusals and all three fates happened, and it was watched.
    assert counted["used_up"] >= counted["datasets"] - 1
    assert min(counted["counts"][kind] for kind in ("reserved", "committed", "cancelled", "failed", "refused")) > 0
    assert counted["looks"] >= 20
    if "://" not in place:
        assert "unavailable" not in counted["counts"]


def test_nothing_is_overspent_or_lost_while_processes_are_killed(place, tmp_path, release):
    torment(place, tmp_path, release, operations=300, kills=8)


@pytest.mark.long
def test_nothing_is_overspent_or_lost_in_ten_thousand_operations(place, tmp_path, release):
    torment(place, tmp_path, release, operations=10_000, kills=200)


@pytest.mark.parametrize("threads", [1, 4])
def test_of_many_who_ask_at_the_same_moment_only_as_many_as_fit_are_served(place, threads):
    done = subprocess.run(
        [sys.executable, RUSH, place, "12", str(threads)],
        capture_output=True,
        text=True,
        env=ONE_THREAD_EACH,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    served = json.loads(done.stdout)
    assert served == [2] * 12
