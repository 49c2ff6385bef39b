"""The guide explains every public name of a check, and every argument that only a check has."""

import inspect

from test_documents import ROOT

import plandp

GUIDE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")


def test_every_public_name_of_a_check_is_explained() -> None:
    for name in {*plandp.Check.__dataclass_fields__, *vars(plandp.Check)}:
        assert name.startswith("_") or f"`check.{name}" in GUIDE, name


def test_arguments_are_those_of_mean_with_the_data_replaced_by_its_size() -> None:
    of_check, of_mean = (inspect.signature(function).parameters for function in (plandp.check, plandp.mean))
    assert set(of_check) - set(of_mean) == {"n", "d"}
    for name in set(of_check) & set(of_mean):
        assert of_check[name] == of_mean[name], name
