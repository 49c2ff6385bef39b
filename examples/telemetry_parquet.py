"""Telemetry in Parquet: many events per device, so first one row per device, then the release from the file.

Run: python examples/telemetry_parquet.py.  It writes invented events into a temporary folder.
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import plandp

rng = np.random.default_rng(2)
devices, events = 8_000, 100_000
activity = rng.gamma(2, 1, devices)  # some devices send much more than others
owner = np.concatenate([np.arange(devices), rng.choice(devices, events - devices, p=activity / activity.sum())])
raw = pa.table(
    {
        "device": owner,
        "latency_ms": rng.lognormal(3.5, 0.4, events),
        "foreground": rng.random(events) < 0.4,
        "battery": pa.array(rng.uniform(5, 100, events), mask=rng.random(events) < 0.1),  # not all devices tell
    }
)

with tempfile.TemporaryDirectory() as folder:
    pq.write_table(raw, Path(folder) / "events.parquet")

    # plandp protects rows.  With a row per event it would protect single events, and a device with a thousand of them
    # hardly at all.  Grouping by device makes the row the device; the number of devices becomes public.
    per_device = (
        pq.read_table(Path(folder) / "events.parquet")
        .group_by("device")
        .aggregate([("latency_ms", "mean"), ("battery", "mean"), ("foreground", "mean"), ("device", "count")])
    )
    pq.write_table(per_device, Path(folder) / "devices.parquet")

    release = plandp.mean(
        Path(folder) / "devices.parquet",  # only the columns that are named are read
        columns=["latency_ms_mean", "battery_mean", "foreground_mean", "device_count"],
        bounds={
            "latency_ms_mean": (0, 10_000),
            "battery_mean": (0, 100),
            "foreground_mean": (0, 1),
            "device_count": (0, 200),  # a device that sends more counts as 200: that is a choice, and public
        },
        error_scale={"latency_ms_mean": 10, "battery_mean": 10, "foreground_mean": 0.2, "device_count": 5},
        rho=0.1,
    )

truth = {
    "latency_ms_mean": np.mean(per_device["latency_ms_mean"].to_numpy()),
    "battery_mean": np.nanmean(per_device["battery_mean"].to_numpy()),
    "foreground_mean": np.mean(per_device["foreground_mean"].to_numpy()),
    "device_count": np.mean(np.minimum(per_device["device_count"].to_numpy(), 200)),
}
print(f"{len(raw):,} events of {release.receipt.n:,} devices")
print(f"{'mean per device':<18} {'estimate':>9} {'± 95%':>7} {'truth':>9}")
for label, estimate, half_width in release.first_rows(4):
    print(f"{label:<18} {estimate:>9.3f} {half_width:>7.3f} {truth[str(label)]:>9.3f}")
# The number of events per device has a long tail; a warning says so, and the estimates may be off by a little more.
print("warnings:", *(release.warnings or ["none"]), sep="\n  ")
print(release.receipt.headline())
