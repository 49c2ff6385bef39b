"""Run by a test in a process of its own: releases on a cluster of two executors, one of which is killed on the way."""

import json
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
from engine_table import COLUMNS, QUICK, bits

import plandp
from conftest import spark_settings


def main(files: str, folder: Path) -> None:
    warnings.simplefilter("ignore")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local-cluster[2,1,512]").config("spark.executor.memory", "512m")
    session = spark_settings(builder, folder / "spark")
    frame = session.read.parquet(files)
    marks = folder / "marks"
    marks.mkdir()
    parts, marked = frame.rdd.getNumPartitions(), str(marks)

    def kills_its_executor(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            seen = len(os.listdir(marked))
            open(f"{marked}/{seen}-{os.getpid()}", "x").close()
            if seen == parts:  # the first were counted: this is while the sample is picked
                os.kill(psutil.Process(os.getppid()).ppid(), signal.SIGKILL)
            yield batch

    deadly = frame.mapInArrow(kills_its_executor, frame.schema)
    released = [
        bits(plandp.mean(frame, columns=COLUMNS, row_index=False, **QUICK)),
        bits(plandp.mean(deadly, columns=COLUMNS, row_index="number", **QUICK)),
    ]
    hexed = [[part.hex() for part in each] for each in released]
    sys.stdout.write(json.dumps({"bits": hexed, "read": len(os.listdir(marks)), "parts": parts}) + "\n")
    session.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
