"""The stress test as a program: forks workers, kills them at random, watches the rows, and prints what it counted.

`python stress_run.py PLACE FOLDER OPERATIONS KILLS SEED`; a process of its own, so that workers are forked from one
thread with everything imported, and start in milliseconds.
"""

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import psycopg
from raw_rows import Tally, raw_entries
from stress_worker import PRICES, TOTAL, dataset_of, run_worker

from plandp import Ledger, MeanRelease

PROCESSES, THREADS = 4, 3
STALLED = 120.0  # seconds without any operation


def main() -> None:
    """Run, count and print one line of JSON."""
    place, folder, operations, kills, seed = sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:6])
    release = MeanRelease.from_json((folder / "release.json").read_text())
    log = folder / "log"
    Ledger(place).register(dataset_of(0), rho=TOTAL)
    started = time.monotonic()
    watcher = _fork(lambda: _watch(place, folder / "looks"))
    counted = _torment(place, log, release, operations, kills, random.Random(seed))
    os.kill(watcher, signal.SIGTERM)
    assert os.waitpid(watcher, 0)[1] == 0, "the watcher has failed"
    seconds = time.monotonic() - started
    sys.stdout.write(
        json.dumps(_compare(place, log, folder / "looks", counted["killed"]) | counted | {"seconds": round(seconds, 1)})
    )


def _torment(place, log, release, operations, kills, chance) -> dict[str, object]:
    """Keep workers running, kill one now and then, until enough was done; then ask the others to stop."""
    workers: dict[int, None] = {}
    killed, cut, seeds = [], 0, iter(range(10**6))
    started = last_change = time.monotonic()
    done, generation, pause = 0, 0, 0.05
    while done < operations or len(killed) < kills:
        while len(workers) < PROCESSES:
            run = {"seed": next(seeds), "threads": THREADS, "generation": generation}
            workers[_fork(lambda run=run: run_worker(place, str(log), release, **run))] = None
        time.sleep(chance.expovariate(1 / pause))
        if len(killed) < kills:
            victim = chance.choice(list(workers))
            os.kill(victim, signal.SIGKILL)
            os.waitpid(victim, 0)
            del workers[victim]
            killed.append(victim)
            if "://" in place and chance.random() < 0.3:
                cut += _cut_connections(place)
        written = log.read_text() if log.exists() else ""
        now_done, generation = written.count("\n"), written.count(" registered ")
        if now_done > done:
            done, last_change = now_done, time.monotonic()
            # Kills are spread over the run.
            rate = done / (time.monotonic() - started)
            pause = min(1.0, max(0.02, (operations - done) / max(rate, 1) / max(1, kills - len(killed))))
        if time.monotonic() - last_change > STALLED:
            raise SystemExit(f"stalled after {done} operations: {_signal_all(workers, signal.SIGKILL)} workers hang")
    _signal_all(workers, signal.SIGTERM)
    for worker in workers:
        os.waitpid(worker, 0)
    time.sleep(0.5)  # forks of killed workers are nobody's children: their last operation may still end
    return {"kills": len(killed), "killed": killed, "cut": cut}


def _compare(place, log, looks, killed) -> dict[str, object]:
    """Hold what workers saw against what the ledger says."""
    ledger, faults = Ledger(place), []
    lines = [line.split(" ", 2) for line in log.read_text().splitlines()]
    counts = Counter(kind for _, kind, _ in lines)
    faults += [" ".join(line) for line in lines if line[1] == "unforeseen"]
    # A server may be out of reach because its sessions were ended, and for no other reason; a file never.
    cut = ("terminating connection", "server closed the connection", "connection is closed", "connection failed")
    faults += [" ".join(line) for line in lines if line[1] == "unavailable" and not any(map(line[2].count, cut))]
    spent = {status.dataset: status.spent for status in ledger.datasets()}
    names = list(spent)
    tallies, owners = {}, {}
    for name in names:
        tallies[name] = tally = Tally()
        for entry in raw_entries(place, name):
            tally.add(entry)
            if entry["kind"] == "reserve":
                owners[name, entry["number"]] = entry["pid"]
        faults += [f"{name}: overspent by entry {number}" for number in tally.overspent]
        faults += [f"{name}: entry {number} without a reservation" for number in tally.unpaid]
        if spent[name] != tally.spent:
            faults.append(f"{name}: the status says another sum")
    releases = {one["dataset"]: one["releases"] for one in ledger.export()["datasets"]}
    seen = {"reserved": set(), "committed": set(), "cancelled": set()}
    for pid, kind, rest in lines:
        if kind not in seen:
            continue
        name, number, *more = rest.split()
        key = name, int(number)
        seen[kind].add(key)
        tally = tallies[name]
        if owners.get(key) != int(pid):
            faults.append(f"{key}: seen by process {pid}, written for {owners.get(key)}")
        elif kind == "reserved" and str(tally.reserved[key[1]]) != more[0]:
            faults.append(f"{key}: reserved at another price")
        elif kind == "cancelled" and key[1] not in tally.cancelled:
            faults.append(f"{key}: seen cancelled, and is not")
        elif kind == "committed":
            stored = releases[name].get(number, {})
            if tally.committed.get(key[1]) != more[0] or stored.get("warnings") != [f"{pid} {name} {number}"]:
                faults.append(f"{key}: seen committed, and the release is another or lost")
    written = {kind: {(name, n) for name in names for n in getattr(tallies[name], kind)} for kind in seen}
    unseen = {kind: written[kind] - seen[kind] for kind in seen}
    if "://" not in place:  # a server's answer may be lost with the connection, a file's only with the process
        faults += [
            f"{key}: {kind}, and nobody saw it" for kind in seen for key in unseen[kind] if owners[key] not in killed
        ]
    verified = ledger.verify()
    looked = json.loads(looks.read_text())
    faults += looked["faults"]
    return {
        "operations": len(lines),
        "counts": dict(counts),
        "datasets": len(names),
        "entries": verified.entries,
        "releases": verified.releases,
        "looks": looked["looks"],
        # Written by a process that was killed before it could say so: spent, or stored, on the safe side.
        "unseen": {kind: len(found) for kind, found in unseen.items()},
        "used_up": sum(tally.total - tally.most_spent < min(PRICES) for tally in tallies.values()),
        "faults": faults[:20],
    }


def _watch(place, path) -> None:
    """Read the newest rows again and again; no sum may ever exceed its total, and no dataset may shrink."""
    parent, stop = os.getppid(), []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    looks, faults, generation, tally = 0, [], 0, Tally()
    while not stop and os.getppid() == parent:
        try:
            fresh = raw_entries(place, dataset_of(generation), after=tally.seen)
            next_begun = not fresh and raw_entries(place, dataset_of(generation + 1)) != []
        except psycopg.OperationalError:  # its own session was among those that were ended
            continue
        for entry in fresh:
            tally.add(entry)
        looks += 1
        faults += [f"watched: {dataset_of(generation)} overspent by entry {number}" for number in tally.overspent]
        if next_begun:
            generation, tally = generation + 1, Tally()
        time.sleep(0.01)
    path.write_text(json.dumps({"looks": looks, "faults": faults[:20]}))


def _cut_connections(place: str) -> int:
    """End some sessions on the server, wherever they are."""
    with psycopg.connect(place, autocommit=True) as connection:
        return len(
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid() LIMIT 2"
            ).fetchall()
        )


def _signal_all(workers, number) -> int:
    for worker in workers:
        os.kill(worker, number)
    return len(workers)


def _fork(work) -> int:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return child


if __name__ == "__main__":
    main()
