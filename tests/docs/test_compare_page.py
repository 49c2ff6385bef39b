"""The page on comparing explains every argument of `plandp.compare` and every public name of its result."""

import inspect

from test_documents import ROOT

import plandp
from plandp.terms.comparison import Contender

PAGE = (ROOT / "docs" / "compare.md").read_text(encoding="utf-8")


def test_every_public_name_of_a_comparison_is_explained() -> None:
    for name in {*plandp.Comparison.__dataclass_fields__, *vars(plandp.Comparison)}:
        assert name.startswith("_") or f"`comparison.{name}" in PAGE or f"`Comparison.{name}" in PAGE, name
    for name in {*Contender.__dataclass_fields__, *vars(Contender)}:
        assert name.startswith("_") or f"`contender.{name}" in PAGE, name


def test_every_argument_of_its_own_is_explained() -> None:
    theirs, of_check = (inspect.signature(ask).parameters for ask in (plandp.compare, plandp.check))
    assert set(of_check) - set(theirs) == {"method"}
    for name in set(theirs) - set(of_check):
        assert f"`{name}" in PAGE, name
    for name in set(theirs) & set(of_check) - {"n"}:  # which public data has itself
        assert theirs[name] == of_check[name], name


def test_it_says_plainly_what_is_not_private() -> None:
    assert "**This is not private.**" in PAGE
    assert "NOTHING IS\n    PRIVATE" in (plandp.compare.__doc__ or "")
