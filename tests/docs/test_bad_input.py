"""Every line of docs/bad-input.md: run against the product, in every container, and compared letter by letter."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
import scipy.sparse
from bad_input_containers import CONTAINERS, Container, in_files
from bad_input_events import ACCEPTED_EVENTS, REFUSED_EVENTS
from bad_input_items import ACCEPTED_ITEMS, REFUSED_ITEMS
from bad_input_ledger import REFUSED_LEDGERS

import plandp
from plandp.cli.main import main

PAGE = (Path(__file__).parents[2] / "docs" / "bad-input.md").read_text(encoding="utf-8")
CANARY = 48.151623  # somebody's value, inside the bounds
CANARIES = ("48.15", "48151", "canary")
NAN, INF = float("nan"), float("inf")
FINE: dict[str, Any] = {"bounds": (0, 100), "rho": 1}

TABLE = np.random.default_rng(4).normal(50, 5, (200, 2))
TABLE[::7] = CANARY

Call = tuple[Callable[[], object], Container | None]
"""Something that must be refused, and the container that decides what columns are called."""

REFUSED: dict[str, Callable[[], Iterator[Call]]] = {}
ACCEPTED: dict[str, Callable[[], None]] = {}


def documented() -> tuple[dict[str, str], set[str]]:
    """The messages of the page by case, and the cases that are fine."""
    lines = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| case |")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    messages = {row[0]: row[-1].strip("`") for row in cells if row[-1].startswith("`") and row[-1].endswith("`")}
    return messages, {row[0] for row in cells} - messages.keys()


def wrong(case: str, *variants: dict[str, Any]) -> None:
    """The table is right, in every container, and these arguments are not; a function is called with the labels."""

    def calls() -> Iterator[Call]:
        for container in CONTAINERS:
            data, labels = container.put(TABLE), container.labels(2)
            for variant in variants:
                given = {name: value(labels) if callable(value) else value for name, value in (FINE | variant).items()}
                yield (lambda data=data, given=given: plandp.mean(data, **given)), container

    REFUSED[case] = calls


def wrong_data(case: str, *tables: Callable[[], object], **arguments: Any) -> None:
    """The arguments are right, and these are not tables."""
    REFUSED[case] = lambda: iter(
        [((lambda data=data: plandp.mean(data(), **(FINE | arguments))), None) for data in tables]
    )


def wrong_call(case: str, call: Callable[[], object]) -> None:
    REFUSED[case] = lambda: iter([(call, None)])


def fine(case: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def keep(check: Callable[[], None]) -> Callable[[], None]:
        ACCEPTED[case] = check
        return check

    return keep


def written(name: str, content: str | bytes) -> Callable[[], object]:
    def write() -> object:
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    return write


def releases(table: np.ndarray, *, only: Callable[[Container], bool] = lambda _: True, **arguments: Any) -> Any:
    """The release of the table in every container: the same bits in all of them."""
    made = [
        plandp.mean(container.put(table), **(FINE | {"testing_seed": 3} | arguments))
        for container in CONTAINERS
        if only(container)
    ]
    for release in made:
        assert np.all(np.isfinite(release.estimate))
        assert release.estimate.shape == (table.shape[1],)
        np.testing.assert_array_equal(release.estimate, made[0].estimate)
        assert len(release.warnings) == len(made[0].warnings)
    return made[0]


def same_as(strange: np.ndarray, plain: np.ndarray, **arguments: Any) -> None:
    """The strange table gives, bit for bit, the release of the plain one."""
    np.testing.assert_array_equal(
        releases(strange, **arguments).estimate,
        plandp.mean(plain, **(FINE | {"testing_seed": 3} | arguments)).estimate,
    )


# -- what is fine


@fine("one row")
def _() -> None:
    release = releases(TABLE[:1])
    assert any(text.startswith("too few rows") for text in release.warnings)
    assert np.all(release.noise_std > 10)


@fine("one column")
def _() -> None:
    assert releases(TABLE[:, :1]).spread is None
    vector = plandp.mean(TABLE[:, 0], **FINE, testing_seed=3)
    assert vector == plandp.mean(TABLE[:, :1], **FINE, testing_seed=3)
    assert releases(TABLE[:, :1]).receipt.d == 1


@fine("more columns than rows")
def _() -> None:
    wide = np.resize(TABLE, (5, 40))
    assert any("too few rows" in text for text in releases(wide).warnings)


def _with_row(value: float) -> np.ndarray:
    table = TABLE.copy()
    table[11] = value
    return table


@fine("one row of NaN")
def _() -> None:
    same_as(_with_row(NAN), _with_row(7.0), missing=7)
    same_as(_with_row(NAN), _with_row(7.0), missing=7, method="gaussian")
    # Half of the rows are missing, and the mean of the others, 24, is not their median, 20.
    present = np.repeat([20.0, 30.0], [600, 400])
    half = np.concatenate([present, np.full(1000, NAN)])[:, np.newaxis] * np.ones(2)
    release = releases(half)
    np.testing.assert_allclose(release.estimate, (24 + release.center) / 2, atol=0.5)
    assert np.all(release.center < 22)


@fine("nothing but NaN")
def _() -> None:
    nothing = np.full((200, 2), NAN)
    same_as(nothing, np.full((200, 2), 7.0), missing=7)
    release = releases(nothing, method="plan")
    # A Gaussian lies six standard deviations out with probability 2e-9, and the seed is fixed.
    assert np.all(np.abs(release.estimate - release.center) < 6 * release.noise_std)


@fine("None, null and NA")
def _() -> None:
    rows = TABLE.tolist()
    rows[3][0] = None
    holed = TABLE.copy()
    holed[3, 0] = NAN
    expected = plandp.mean(holed, **FINE, testing_seed=3).estimate
    columns = dict(zip(("age", "income"), map(list, zip(*rows, strict=True)), strict=True))
    for data in (
        rows,
        pandas.DataFrame(columns),
        pandas.DataFrame(columns, dtype="Float64"),
        pandas.DataFrame(columns, dtype="double[pyarrow]"),
        polars.DataFrame(columns),
        pyarrow.table(columns),
    ):
        np.testing.assert_array_equal(plandp.mean(data, **FINE, testing_seed=3).estimate, expected)


@fine("plus and minus infinity")
def _() -> None:
    for value, bound in ((INF, 100.0), (-INF, 0.0)):
        same_as(_with_row(value), _with_row(bound))
        same_as(_with_row(value), _with_row(bound), method="gaussian")


@fine("huge values")
def _() -> None:
    for value, bound in ((np.finfo(float).max, 100.0), (-np.finfo(float).max, 0.0)):
        same_as(_with_row(value), _with_row(bound))
    rows: list[list[Any]] = TABLE.tolist()
    rows[11] = [10**400, -(10**400)]
    expected = TABLE.copy()
    expected[11] = [100, 0]
    np.testing.assert_array_equal(
        plandp.mean(rows, **FINE, testing_seed=3).estimate, plandp.mean(expected, **FINE, testing_seed=3).estimate
    )


@fine("subnormal values")
def _() -> None:
    for value in (5e-324, -5e-324, 2.2e-308):
        same_as(_with_row(value), _with_row(0.0))
    same_as(np.full((200, 2), 5e-324), np.zeros((200, 2)), bounds=(-1, 1))


@fine("values outside the bounds")
def _() -> None:
    same_as(_with_row(100.001), _with_row(100.0))
    same_as(TABLE, np.clip(TABLE, 48, 52), bounds=(48, 52))


@fine("bool and integer columns")
def _() -> None:
    numbers = (TABLE > 50).astype(float)
    expected = plandp.mean(numbers, bounds=(0, 1), rho=1, testing_seed=3).estimate
    for dtype in (bool, np.int8, np.uint64, np.float16):
        frame = pandas.DataFrame(numbers.astype(dtype), columns=["age", "income"])
        for data in (numbers.astype(dtype), frame, polars.from_pandas(frame), pyarrow.Table.from_pandas(frame)):
            release = plandp.mean(data, bounds=(0, 1), rho=1, testing_seed=3)
            np.testing.assert_array_equal(release.estimate, expected)
    large = np.full((200, 2), 2**53 + 1)
    same_as(large.astype(float), np.full((200, 2), 2.0**53), bounds=(0, 2**54))


@fine("a column of one value")
def _() -> None:
    table = TABLE.copy()
    table[:, 0] = 50
    assert abs(releases(table).estimate[0] - 50) < 1


def _cells(*rows: str) -> list[object]:
    return [
        written(f"strange{suffix}", "\n".join(["age,income", *rows, ""]).replace(",", mark))()
        for suffix, mark in ((".csv", ","), (".tsv", "\t"))
    ]


def _reads_as(rows: list[str], table: list[list[float]]) -> None:
    for file in _cells(*rows):
        found = plandp.mean(file, **FINE, missing=7, testing_seed=3)
        expected = plandp.mean(np.array(table), **FINE, missing=7, testing_seed=3)
        np.testing.assert_array_equal(found.estimate, expected.estimate)
        assert found.receipt.n == len(table)


@fine("text in a CSV cell")
def _() -> None:
    _reads_as(["41,canary", "NA,42", ",43"], [[41, NAN], [NAN, 42], [NAN, 43]])
    _reads_as(["canary,1", "canary,2"], [[NAN, 1], [NAN, 2]])


@fine("a CSV row of the wrong length")
def _() -> None:
    _reads_as(["41,42", "43", "", "44,45,46", "47,48"], [[41, 42], [NAN, NAN], [NAN, NAN], [NAN, NAN], [47, 48]])


@fine("a CSV file that is cut off")
def _() -> None:
    Path("whole.csv").write_text("age,income\n41,42\n43,44\n")
    whole = Path("whole.csv").read_bytes()
    for end, last in ((b"43", [NAN, NAN]), (b"43,4", [43.0, 4.0]), (b"43,", [43.0, NAN])):
        Path("cut.csv").write_bytes(whole[: whole.index(b"43,44")] + end)
        found = plandp.mean("cut.csv", **FINE, missing=7, testing_seed=3)
        expected = plandp.mean(np.array([[41.0, 42.0], last]), **FINE, missing=7, testing_seed=3)
        np.testing.assert_array_equal(found.estimate, expected.estimate)


# -- what is refused: the table


def _empty() -> Iterator[Call]:
    for container in CONTAINERS:
        if container.name != "list":  # a list without rows has no columns either
            yield (lambda container=container: plandp.mean(container.put(TABLE[:0]), **FINE)), container


REFUSED["no rows"] = _empty
wrong_data(
    "no columns",
    lambda: np.zeros((200, 0)),
    lambda: pandas.DataFrame(index=range(200)),
    lambda: written_npy(np.zeros((200, 0))),
)
wrong_data(
    "an array of three dimensions",
    lambda: np.full((2, 2, 2), CANARY),
    lambda: written_npy(np.full((2, 2, 2), CANARY)),
)
wrong_data("an array without dimensions", lambda: np.array(CANARY), lambda: written_npy(np.array(CANARY)))
wrong_data("an array of objects", lambda: TABLE.astype(object))
wrong_data("an array of strings", lambda: TABLE.astype(str), lambda: written_npy(TABLE.astype(str)))
wrong_data("an array of complex numbers", lambda: TABLE.astype(complex), lambda: written_npy(TABLE.astype(complex)))
wrong_data("a masked array", lambda: np.ma.masked_equal(TABLE, CANARY))
wrong_data("a sparse matrix", lambda: scipy.sparse.csr_array(TABLE), lambda: scipy.sparse.csr_matrix(TABLE))
wrong_data(
    "a frame with a column of strings",
    lambda: pyarrow.table({"age": ["canary"]}),
    lambda: written_parquet(pyarrow.table({"age": ["canary"]})),
)
wrong_data("a pandas column of objects", lambda: pandas.DataFrame(TABLE, columns=["age", "income"]).astype(object))
wrong_data("a list of rows of unequal length", lambda: [[CANARY, 2], [CANARY]])
wrong_data("a list of numbers", lambda: [CANARY, 2, 3])
wrong_data("a list of one-dimensional arrays", lambda: [TABLE[:100, 0], TABLE[100:, 0]], lambda: tuple(TABLE))
wrong_data("a list with a string in it", lambda: [[CANARY, "canary"]], lambda: [[CANARY, None, "canary"]])
wrong_data("something else", lambda: {"age": [CANARY, 42]})
wrong_data("what can be gone through only once", lambda: iter([TABLE]), lambda: (TABLE for _ in range(2)))
wrong_data("a function that returns something else", lambda: lambda: 7)
wrong_data("batches that are none", lambda: lambda: iter([[CANARY, 2]]))
wrong_data("batches with other columns", lambda: [TABLE, TABLE[:, :1]], lambda: lambda: [TABLE[:, :1], TABLE])
wrong_data(
    "bounds for a column of lists",
    lambda: pyarrow.table({"x": pyarrow.array([[CANARY, 2.0]], pyarrow.list_(pyarrow.float64(), 2)), "age": [1.0]}),
    bounds={"x": (0, 100)},
)
wrong_data(
    "lists of no fixed width",
    lambda: pyarrow.table({"x": [[CANARY, 2.0]]}),
    lambda: pyarrow.table({"x": [[CANARY, 2.0]], "age": [1.0]}),
    lambda: written_parquet(pyarrow.table({"x": [[CANARY, 2.0]], "age": [1.0]})),
)


def written_npy(array: np.ndarray) -> str:
    np.save("survey.npy", array)
    return "survey.npy"


def written_parquet(table: Any) -> str:
    pyarrow.parquet.write_table(table, "survey.parquet")
    return "survey.parquet"


# -- columns and labels

wrong_data(
    "a label that occurs twice",
    lambda: pandas.DataFrame(TABLE, columns=["age", "age"]),
    lambda: pyarrow.table(list(TABLE.T.copy()), names=["age", "age"]),
    lambda: written_parquet(pyarrow.table(list(TABLE.T.copy()), names=["age", "age"])),
    written("survey.csv", f"age,age\n{CANARY},2\n"),
)
wrong_data("a label that is neither str nor int", lambda: pandas.DataFrame(TABLE, columns=[1.5, "income"]))
wrong("an unknown column", {"columns": ["height"]})
wrong("a column named twice", {"columns": lambda labels: [labels[0], labels[0]]})
wrong("no column named", {"columns": []})
wrong("an unknown column of row numbers", {"row_index": "number"})
wrong("row numbers that are released", {"columns": lambda labels: labels[:1], "row_index": lambda labels: labels[0]})
wrong("a row index that is no label", {"row_index": True}, {"row_index": 1.0}, {"row_index": ["age"]})
wrong("a method that goes by position", {"method": "plan-classic", "row_index": False})
wrong_data(
    "row numbers that are not 0, 1, …, n-1",
    lambda: np.column_stack([np.resize(TABLE[:, 0], 20_000), np.zeros(20_000)]),
    lambda: np.column_stack([np.resize(TABLE[:, 0], 20_000), np.arange(20_000) // 2]),
    lambda: np.column_stack([np.resize(TABLE[:, 0], 20_000), np.arange(20_000) + 0.5]),
    lambda: np.column_stack([TABLE[:, 0], np.arange(1, 201)]),
    lambda: np.column_stack([TABLE[:, 0], np.append(np.arange(199), 7)]),
    lambda: np.column_stack([TABLE[:, 0], np.append(np.arange(199), NAN)]),
    lambda: np.column_stack([TABLE[:, 0], np.append(np.arange(199), 7)]).tolist(),
    row_index=1,
)
wrong("columns that are not a list", {"columns": "age"}, {"columns": 5})

# -- bounds

wrong("no bounds", {"bounds": None})
wrong("the low end above the high end", {"bounds": (100, 0)}, {"bounds": [(100, 0), (0, 100)]})
wrong("the low end equal to the high end", {"bounds": (5, 5)})
wrong("infinite bounds", {"bounds": (0, INF)})
wrong("NaN as a bound", {"bounds": (NAN, 100)}, {"bounds": (0, NAN)})
wrong("too many or too few pairs", {"bounds": [(0, 100)] * 3})
wrong("a pair of three", {"bounds": [(0, 50, 100), (0, 100)]}, {"bounds": [(0,), (0, 100)]})
wrong(
    "bounds for an unknown label",
    {"bounds": lambda labels: {labels[0]: (0, 100), labels[1]: (0, 100), "height": (0, 3)}},
)
wrong(
    "bounds that leave out an asked column",
    {"columns": lambda labels: list(labels), "bounds": lambda labels: {labels[0]: (0, 100)}},
)
wrong("bounds too wide for float64", {"bounds": (-1e308, 1e308)})
wrong("bounds too narrow for float64", {"bounds": (0, 1e-300)})
wrong("bounds that are text", {"bounds": "0:100"})

# -- the budget

NO_RHO: dict[str, Any] = {"rho": None}
wrong("no budget", NO_RHO)
wrong("rho of zero or less", {"rho": 0}, {"rho": -1}, {"rho": "0"}, {"rho": 1e-13})
wrong("NaN or infinite rho", {"rho": NAN}, {"rho": INF}, {"rho": "nan"}, {"rho": 1e7})
wrong("rho that is no number", {"rho": "much"}, {"rho": True}, {"rho": [1]})
wrong("both rho and epsilon", {"rho": 1, "epsilon": 1, "delta": 1e-6}, {"rho": 1, "epsilon": 1})
wrong("rho with delta", {"rho": 1, "delta": 1e-6})
wrong("epsilon without delta", NO_RHO | {"epsilon": 1})
wrong("delta without epsilon", NO_RHO | {"delta": 1e-6})
wrong(
    "delta outside (0, 1)",
    *(NO_RHO | {"epsilon": 1, "delta": delta} for delta in (0, 1, 2, -0.5, NAN, INF, 1 - 1e-17, "1e-301")),
)
wrong(
    "epsilon of zero or less, or not finite",
    *(NO_RHO | {"epsilon": epsilon, "delta": 1e-6} for epsilon in (0, -1, INF, NAN)),
)

# -- other arguments

wrong("an unknown method", {"method": "best"}, {"method": None}, {"method": ["plan"]})
wrong("an error norm below one", *({"error_norm": p} for p in (0.5, -1, INF, NAN, "2", None, True)))
wrong("an error scale of zero", {"error_scale": 0})
wrong("an error scale that is text", {"error_scale": "width"})
wrong("an error scale far from the bounds", {"error_scale": 1e200})
wrong("a negative spread", {"spread": -1})
wrong("too many spreads", {"spread": [1, 2, 3]})
wrong("a smallest spread wider than the bounds", {"smallest_spread": 1000})
wrong("a missing value outside the bounds", {"missing": 101})
wrong("NaN as the missing value", {"missing": NAN})
wrong("a missing value for an unknown label", {"missing": {"height": 0}})
wrong("an unknown sampler", {"sampler": "numpy"})
wrong("no number of threads", {"threads": 0}, {"threads": 65}, {"threads": 2.0})
wrong("a testing seed that is no int", {"testing_seed": 1.5}, {"testing_seed": True})
wrong_call("a confidence outside (0, 1)", lambda: plandp.mean(TABLE, **FINE).interval(95))
wrong_call("text that is no release", lambda: plandp.MeanRelease.from_json("{}"))
wrong_call("a check of no rows", lambda: plandp.check(n=0, d=2, bounds=(0, 100), rho=1))

# -- files

wrong_data("a file that does not exist", lambda: "survey.csv")


def _directory(*names: str) -> object:
    Path("surveys").mkdir(exist_ok=True)
    for name in names:
        path = Path("surveys") / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"age\n{CANARY}\n")
    return "surveys"


def _columns(*headers: str) -> list[str]:
    names = [f"{letter}.csv" for letter in "ab"[: len(headers)]]
    for name, header in zip(names, headers, strict=True):
        Path(name).write_text(f"{header}{CANARY}\n")
    return names


def _in_each_file(change: Callable[[bytes], bytes], *, text: bool) -> Iterator[Call]:
    for container in in_files():
        if text or container.name not in ("csv", "tsv"):
            name = str(container.put(TABLE))
            Path(name).write_bytes(change(Path(name).read_bytes()))
            yield (lambda name=name: plandp.mean(name, **FINE)), container


wrong_data("a directory without files", _directory, lambda: Path(str(_directory())))
wrong_data("a directory of directories", lambda: _directory("2025/a.csv"))
wrong_data("several kinds of files", lambda: _directory("a.csv", "b.parquet"), lambda: str(_directory()) + "/*.*")
wrong_data("a pattern that no file matches", lambda: "surveys/*.csv", lambda: Path("surveys/*.csv"))
wrong_data("files with other columns", lambda: _columns("age,income\n", "age\n"), lambda: _columns("income\n", "age\n"))
wrong_data("a file that is named twice", lambda: [*_columns("age\n1\n"), "./a.csv"])
wrong_data("the text of a file instead of its name", lambda: f"age,income\n{CANARY},30000\n", lambda: "canary" * 1000)
wrong_data("an ending that is not known", written("survey.txt", f"age\n{CANARY}\n"))
wrong_data("a file that is compressed", written("survey.csv.gz", b"\x1f\x8b"))


def _open_file() -> None:
    Path("survey.csv").write_text(f"age\n{CANARY}\n")
    with Path("survey.csv").open("rb") as file:
        plandp.mean(file, **FINE)


wrong_call("an open file", _open_file)
wrong_data("an address of this machine", lambda: "file:///tmp/survey.csv")
wrong_data("a pattern in a list", lambda: [Path("surveys/*.csv")], lambda: (Path("surveys/*.csv"),))
REFUSED["an empty file"] = lambda: _in_each_file(lambda _: b"", text=True)
REFUSED["only a header"] = lambda: ((call, container) for call, container in _empty() if container and container.file)
REFUSED["a file that is cut off"] = lambda: _in_each_file(lambda whole: whole[: len(whole) * 2 // 3], text=False)
REFUSED["a file that is something else"] = lambda: _in_each_file(
    lambda _: f"age,income\n{CANARY},30000\n".encode(), text=False
)
wrong_data("an .npy file of objects", lambda: written_npy(np.array([["canary", CANARY]], dtype=object)))


def _two_arrays() -> object:
    np.savez("survey.npz", a=TABLE, b=TABLE)
    return "survey.npz"


wrong_data("an .npz file of two arrays", _two_arrays)
wrong_data("a first line of numbers", written("survey.csv", f"{CANARY},2\n{CANARY},3\n"))
wrong_data(
    "a name over several lines",
    written("survey.csv", f'age,"income\n{CANARY},2\n{CANARY},3\n'),
    written("survey.csv", f'age,"income\n{CANARY},2\n"\n{CANARY},3\n'),
    written("survey.csv", f'age,"income\r\n{CANARY},2\r\n'),
    written("survey.csv", f"age\r{CANARY}\r{CANARY}\r".encode()),
    written("survey.csv", f"age,income\r{CANARY},\r".encode()),
)
wrong_data("a blank first line", written("survey.csv", f"\n{CANARY},3\n"))
wrong_data(
    "a hint at the delimiter",
    *(written("survey.csv", f"{hint}\nage,income\n{CANARY},3\n") for hint in ("sep=,", "SEP=;", '"sep=,"')),
)
wrong_data("another delimiter", written("survey.csv", f"age;income\n{CANARY};3\n"))
wrong_data("a comment before the names", written("survey.csv", f"# made in May\nage,income\n{CANARY},3\n"))
wrong_data("a first line that is not UTF-8", written("survey.csv", b"\xff\xfe,age\n48.151623,3\n"))


# -- items, events and ledgers

REFUSED |= REFUSED_ITEMS
ACCEPTED |= ACCEPTED_ITEMS
REFUSED |= REFUSED_EVENTS
ACCEPTED |= ACCEPTED_EVENTS
REFUSED |= REFUSED_LEDGERS


# -- the tests

_FILE = re.compile(r"survey(\.\w+)")
_A_KIND = {".arrow": "an Arrow IPC"}
_KINDS = {".csv": "CSV", ".tsv": "TSV", ".feather": "Feather", ".arrow": "Arrow IPC", ".npy": "NumPy", ".npz": "NumPy"}


def expected(message: str, container: Container | None) -> str:
    """The documented message in the words of a container: its labels, its file, its format."""
    if container and container.numbered:
        message = message.replace("'age'", "0").replace("'income'", "1")
        message = message.replace("{0: (0, 120)", "{'age': (0, 120)").replace("[0, 1]", "['age', 'income']")
    if container and container.file and "the file 'survey" in message:
        message = _FILE.sub(container.file, message)
        message = message.replace("a Parquet", _A_KIND.get(Path(container.file).suffix, "a Parquet"))
        message = message.replace("Parquet", _KINDS.get(Path(container.file).suffix, "Parquet"))
    return message


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("case", sorted(REFUSED))
def test_what_is_refused_is_refused_in_these_words(case: str) -> None:
    message = documented()[0][case]
    count = 0
    for call, container in REFUSED[case]():
        with pytest.raises(plandp.ArgumentError) as caught:
            call()
        error = caught.value
        assert str(error) == expected(message, container), container and container.name
        assert str(error).startswith(f"{error.argument}: ")
        # No value of the data, not even in what it was raised from.
        assert error.__cause__ is None
        assert error.__context__ is None
        assert not any(canary in f"{error!r} {error.args}" for canary in CANARIES)
        count += 1
    assert count


@pytest.mark.parametrize("case", sorted(ACCEPTED))
def test_what_is_fine_is_an_ordinary_release(case: str) -> None:
    ACCEPTED[case]()


def test_the_page_and_these_tests_have_the_same_lines() -> None:
    messages, rules = documented()
    assert set(messages) == set(REFUSED)
    assert rules == set(ACCEPTED)


def test_each_library_calls_a_column_of_strings_by_its_own_name() -> None:
    message = documented()[0]["a frame with a column of strings"]
    for data, dtype in (
        (pandas.DataFrame({"age": pandas.array(["canary"], dtype="string")}), "string"),
        (pandas.DataFrame({"age": pandas.array(["canary"], dtype="category")}), "category"),
        (polars.DataFrame({"age": ["canary"]}), "String"),
    ):
        with pytest.raises(plandp.ArgumentError) as caught:
            plandp.mean(data, **FINE)
        assert str(caught.value) == message.replace("dtype string", f"dtype {dtype}")


def test_every_line_of_the_page_is_read() -> None:
    lines = [line for line in PAGE.splitlines() if line.startswith("|") and not line.startswith(("| case", "|---"))]
    assert len(lines) == len(REFUSED) + len(ACCEPTED)


def test_a_message_names_its_argument_and_says_what_to_do() -> None:
    # What is allowed is named by one of these words; a message that only says no would have none.
    advice = re.compile(r"; |must |pass |is for |its columns are")
    for case, message in documented()[0].items():
        assert re.match(r"[a-z_]+: \S", message), case
        assert advice.search(message), case


@pytest.mark.parametrize(
    ("arguments", "case", "option"),
    [
        (["survey.csv", "--bounds", "0:100", "--rho", "0"], "rho of zero or less", "--rho"),
        (["survey.csv", "--bounds", "100:0", "--rho", "1"], "the low end above the high end", "--bounds"),
        (["nowhere.csv", "--bounds", "0:100", "--rho", "1"], "a file that does not exist", "FILE"),
    ],
)
def test_the_command_line_says_the_same_of_its_options(
    arguments: list[str], case: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if arguments[0] == "survey.csv":
        next(container for container in CONTAINERS if container.name == "csv").put(TABLE)
    assert main(["mean", *arguments]) == 2
    said = documented()[0][case].split(": ", 1)[1].split("; a string")[0].replace("survey.csv", arguments[0])
    assert capsys.readouterr().err == f"plandp: {option}: {said}\n"
