"""`import plandp` loads what a release of an array needs and no more; every other name is there when asked for."""

import pickle
import subprocess
import sys
from collections.abc import Iterable

import pytest

import plandp
from plandp import methods

MOST_MODULES = 110
"""There are 100.  Each takes one or two milliseconds, and three times that where no bytecode is kept."""

FEW_NEED = (
    "plandp.baselines.coinpress",
    "plandp.baselines.iome",
    "plandp.classic",
    "plandp.comparison",
    "plandp.data.arrow_table",
    "plandp.data.dask_collections",
    "plandp.data.events",
    "plandp.data.files",
    "plandp.data.open_sparse",
    "plandp.data.pandas_frame",
    "plandp.data.polars_frame",
    "plandp.data.scipy_matrix",
    "plandp.data.spark_frame",
    "plandp.data.streamed_rows",
    "plandp.events",
    "plandp.ledger.engines",
    "plandp.outlook",
    "plandp.report",
    "plandp.sparse_algorithm",
    "scipy",
    "sqlalchemy",
)


def loaded_after(program: str) -> set[str]:
    """What a new interpreter has loaded at the end of a program."""
    return set(printed_by(f"{program}\nimport sys; print(*sys.modules)").split())


def printed_by(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def few_need_among(loaded: Iterable[str]) -> list[str]:
    return sorted(set(FEW_NEED) & set(loaded))


def test_an_import_loads_no_more_than_a_release_needs() -> None:
    loaded = loaded_after("import plandp")
    assert few_need_among(loaded) == []
    assert len([name for name in loaded if name.split(".")[0] == "plandp"]) <= MOST_MODULES


def test_a_release_of_an_array_loads_hardly_more() -> None:
    before = loaded_after("import plandp")
    program = "import numpy, plandp; plandp.mean(numpy.ones((100, 2)), bounds=(0, 3), rho=1)"
    more = {name for name in loaded_after(program) - before if name.split(".")[0] == "plandp"}
    assert few_need_among(more) == []
    assert len(more) <= 3


def test_the_rest_comes_when_it_is_asked_for() -> None:
    names = "plandp.check, plandp.compare, plandp.mean_of_events, plandp.classic.Pairs, plandp.methods.IOME"
    needed = {"plandp.outlook", "plandp.comparison", "plandp.events", "plandp.classic", "plandp.baselines.iome"}
    assert needed <= set(FEW_NEED)
    assert needed <= loaded_after(f"import plandp; {names}")


def test_every_name_is_there_before_it_is_loaded() -> None:
    program = "import plandp; print(set(plandp.__all__) - set(dir(plandp)), 'check' in vars(plandp))"
    assert printed_by(program) == "set() False\n"
    given: dict[str, object] = {}
    exec("from plandp import *", given)
    assert set(plandp.__all__) <= set(given)
    for name in plandp.__all__:
        assert given[name] is getattr(plandp, name)
        assert pickle.loads(pickle.dumps(given[name])) is given[name]


def test_a_misspelled_name_is_refused_as_ever() -> None:
    with pytest.raises(AttributeError, match="module 'plandp' has no attribute 'chek'"):
        _ = plandp.chek
    with pytest.raises(AttributeError, match=r"module 'plandp\.methods' has no attribute 'CLASSIC'"):
        _ = methods.CLASSIC


def test_a_name_stands_for_one_estimator_that_calls_itself_so() -> None:
    for name in methods.NAMES:
        assert methods.find_estimator(name).name == name
        assert getattr(methods, name.upper().replace("-", "_")) is methods.find_estimator(name)
