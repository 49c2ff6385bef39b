"""A folder for the files that a test writes."""

from pathlib import Path

import pytest


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every name of a file without a folder is in an empty one of the test."""
    monkeypatch.chdir(tmp_path)
