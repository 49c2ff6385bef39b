"""What is installed is all that is in src: modules, published figures, the mark of typed packages."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from test_documents import ROOT


def test_the_wheel_holds_every_file_of_the_packages(tmp_path: Path) -> None:
    # in a copy, since setuptools leaves its own files beside the source; without isolation nothing is downloaded
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    leave = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", copy / "src", ignore=leave)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*build, "--wheel-dir", str(tmp_path), str(copy)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("plandp-*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    there = {path.relative_to(copy / "src").as_posix() for path in (copy / "src").rglob("*") if path.is_file()}
    assert held == {name for name in there if ".egg-info/" not in name}
    assert "plandp_lab/reproduce/figures_of_the_paper/published_results.csv" in held
