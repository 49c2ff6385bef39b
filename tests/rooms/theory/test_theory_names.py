"""What researchers may use is one list: exported, found, and explained."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from plandp import theory

PAGE = Path(__file__).parents[3] / "docs" / "theory.md"


def test_every_name_is_exported_from_its_place_and_on_the_page() -> None:
    places = {name: place for place, names in theory._PLACES.items() for name in names}
    assert sorted(places) == sorted(theory.__all__)
    page = PAGE.read_text(encoding="utf-8")
    for name, place in places.items():
        assert getattr(theory, name) is getattr(importlib.import_module(f"plandp.theory.{place}"), name)
        assert f"`{name}`" in page, name
        assert getattr(theory, name).__doc__


def test_names_are_listed_before_they_are_asked_for() -> None:
    code = (
        "from plandp import theory; print(set(theory.__all__) - set(dir(theory)), 'plan_error_bound' in vars(theory))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed == "set() False\n"
    assert "__all__" in dir(theory)


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'rank_eror'"):
        _ = theory.rank_eror


def test_importing_plandp_does_not_import_them() -> None:
    code = "import sys, plandp; print([n for n in sys.modules if n.endswith(('plan_bound', 'tails'))])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
