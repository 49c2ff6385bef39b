"""Files are parsed, never executed: payloads that would run when unpickled do not, in any file that plandp reads."""

import ast
import contextlib
import io
import os
import pickle
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import plandp
from plandp.cli.main import main

SOURCE = Path(plandp.__file__).parent


class Payload:
    """Leaves a file behind when somebody unpickles it."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.trace),)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "somebody unpickled it"


def _npy(array: np.ndarray) -> bytes:
    sink = io.BytesIO()
    np.save(sink, array, allow_pickle=True)
    return sink.getvalue()


def _zip(members: dict[str, bytes]) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return sink.getvalue()


def _objects(trace: Path) -> np.ndarray:
    array = np.empty((2, 1), object)
    array[:] = [[Payload(trace)], [1.0]]
    return array


def _matrix_with(trace: Path, part: str) -> bytes:
    sink = io.BytesIO()
    scipy.sparse.save_npz(sink, scipy.sparse.csr_array(np.eye(2)))
    with zipfile.ZipFile(sink) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    assert f"{part}.npy" in members
    return _zip(members | {f"{part}.npy": _npy(_objects(trace))})


def _arrow(trace: Path, suffix: str) -> bytes:
    """A table whose schema, field and column say in all known ways that a pickle belongs to them."""
    import pyarrow
    from pyarrow import feather, ipc, parquet

    payload = pickle.dumps(Payload(trace))
    extension = {b"ARROW:extension:name": b"arrow.py_extension_type", b"ARROW:extension:metadata": payload}
    field = pyarrow.field("a", pyarrow.float64(), metadata=extension | {b"PANDAS": payload, b"pickle": payload})
    metadata = {b"pandas": payload, b"ARROW:schema": payload, b"pickle": payload}
    table = pyarrow.table([pyarrow.array([1.0, 2.0])], schema=pyarrow.schema([field], metadata=metadata))
    sink = io.BytesIO()
    if suffix == ".parquet":
        parquet.write_table(table, sink)
    elif suffix == ".feather":
        feather.write_feather(table, sink)
    else:
        with ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()


FILES: dict[str, tuple[str, Callable[[Path], bytes]]] = {
    "an array of objects": (".npy", lambda trace: _npy(_objects(trace))),
    "a pickle instead of an array": (".npy", lambda trace: pickle.dumps(Payload(trace))),
    "a pickle called .npz": (".npz", lambda trace: pickle.dumps(Payload(trace))),
    "an array of objects in .npz": (".npz", lambda trace: _zip({"x.npy": _npy(_objects(trace))})),
    "a pickle as a member of .npz": (".npz", lambda trace: _zip({"x.npy": pickle.dumps(Payload(trace))})),
    **{
        f"a matrix whose {part} is objects": (".npz", lambda trace, part=part: _matrix_with(trace, part))
        for part in ("data", "indices", "indptr", "shape", "format")
    },
    **{f"metadata of {suffix}": (suffix, lambda trace, suffix=suffix: _arrow(trace, suffix))
       for suffix in (".parquet", ".feather", ".arrow")},
    **{f"a pickle called {suffix}": (suffix, lambda trace: pickle.dumps(Payload(trace)))
       for suffix in (".csv", ".tsv", ".parquet", ".feather", ".arrow")},
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_no_file_is_unpickled(name: str, trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suffix, content = FILES[name]
    path = tmp_path / f"table{suffix}"
    path.write_bytes(content(trace))
    for arguments in ({"bounds": (0, 1)}, {"kind": "binary"}, {"kind": "nonnegative", "bounds": (0, 5)}):
        with contextlib.suppress(plandp.ArgumentError):
            plandp.mean(path, rho=1, **arguments)
    with contextlib.suppress(plandp.ArgumentError):
        plandp.mean_of_events(path, person="a", item="b", items=["x"], people=2, rho=1)
    main(["mean", str(path), "--bounds", "0:1", "--rho", "1"])
    main(["show", str(path)])
    capsys.readouterr()
    assert not trace.exists()


def test_the_payload_works(trace: Path) -> None:
    """Or the test above could not fail."""
    np.load(io.BytesIO(_npy(_objects(trace))), allow_pickle=True)
    assert trace.exists()


def test_an_array_of_objects_in_memory_is_not_executed_either(trace: Path) -> None:
    with pytest.raises(plandp.ArgumentError, match="Python objects"):
        plandp.mean(_objects(trace), bounds=(0, 1), rho=1)
    assert not trace.exists()


FROM_OWN_WORKERS = "data/spark_events.py", "data/spark_parts.py"
"""They read nothing but what plandp wrote on Spark's executors, whose every answer is a pickle of Spark's anyway."""

FROM_BESIDE_THE_SOURCE = ("kernels/kept_code.py",)
"""It reads machine code that was compiled here: who can write there can change the source too, or Numba's pickles."""

FORBIDDEN_MODULES = {
    "pickle",
    "_pickle",
    "marshal",
    "shelve",
    "dill",
    "cloudpickle",
    "joblib",
    "code",
    "codeop",
    "runpy",
}
FORBIDDEN_CALLS = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "system",
    "popen",
    "read_pickle",
    "PickleType",
    "fromstring",
}


def _trees() -> Iterator[tuple[str, ast.AST]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield str(path.relative_to(SOURCE)), ast.parse(path.read_text(encoding="utf-8"))


def _faults(tree: ast.AST) -> list[str]:
    """What a module has that could execute what it reads."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {(node.module or "").partition(".")[0]}
        else:
            names = set()
        found += [f"imports {name}" for name in names & FORBIDDEN_MODULES]
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            owner = getattr(getattr(node.func, "value", None), "id", "")
            if called in FORBIDDEN_CALLS and owner != "re":
                found.append(f"calls {called}")
            if called == "load" and owner in ("np", "numpy"):
                never = [word for word in node.keywords if word.arg == "allow_pickle"]
                if not (never and isinstance(never[0].value, ast.Constant) and never[0].value.value is False):
                    found.append("loads arrays without allow_pickle=False")
    return found


def test_no_module_can_execute_what_it_reads() -> None:
    modules = dict(_trees())
    assert len(modules) > 100
    found = {name: faults for name, tree in modules.items() if (faults := _faults(tree))}
    # Dask's workers are sent pickles anyway, and unpickle this one after a look at whose it is.
    assert found.pop("data/dask_parts.py") == ["imports pickle", "imports cloudpickle"]
    assert found == {name: ["imports pickle"] for name in (*FROM_OWN_WORKERS, *FROM_BESIDE_THE_SOURCE)}


@pytest.mark.parametrize(
    "planted",
    [
        "import pickle",
        "from pickle import loads",
        "import os.path, marshal",
        "eval('1')",
        "exec(text)",
        "os.system('x')",
        "pandas.read_pickle(path)",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "np.load(path, allow_pickle=allowed)",
    ],
)
def test_a_module_that_could_is_found(planted: str) -> None:
    assert _faults(ast.parse(planted))


def test_arrays_are_loaded_somewhere() -> None:
    """Or the rule about np.load would be about nothing."""
    assert sum("np.load(" in path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")) >= 1
