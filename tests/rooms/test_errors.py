"""Errors of plandp come whole out of other processes."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

import plandp
from plandp import errors

EACH = [
    errors.PlandpError("no"),
    errors.ArgumentError("rho", "must be positive"),
    errors.MissingExtra("dask", "dask", "reading a cluster"),
    errors.BudgetExceeded("spent"),
    errors.LedgerUnavailable("the disk is full"),
    errors.LedgerDamaged("survey", 3, "was changed"),
]


def test_each_kind_of_error_is_tried() -> None:
    kinds = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)}
    assert kinds == {type(error) for error in EACH}


@pytest.mark.parametrize("error", EACH, ids=lambda error: type(error).__name__)
def test_an_error_is_unpickled_as_it_was(error: errors.PlandpError) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(error, protocol=protocol))
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.args == error.args
        assert vars(again) == vars(error)


def _refused() -> None:
    plandp.mean([[1.0]], bounds=(0, 1), rho=-1)


def test_an_error_in_a_pool_of_processes_reaches_who_asked() -> None:
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(plandp.ArgumentError, match="rho") as caught,
    ):
        pool.submit(_refused).result(timeout=100)
    assert caught.value.argument == "rho"
