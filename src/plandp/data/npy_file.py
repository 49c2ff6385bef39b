"""Arrays in .npy and .npz files as tables; nothing is ever unpickled."""

from collections.abc import Collection
from pathlib import Path

import numpy as np

from plandp.data.array import ArrayTable, open_array
from plandp.data.npz_matrix import is_matrix
from plandp.errors import ArgumentError
from plandp.terms.columns import Label


def read_npy(path: Path, columns: Collection[Label] | None, progress: bool) -> ArrayTable:
    """Return the one array of the file; an array of objects, which would need pickle, is not read."""
    with path.open("rb") as file:
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.lib.npyio.NpzFile):
            if is_matrix(loaded.files):
                raise ArgumentError(
                    "data",
                    f"the file {str(path)!r} holds a sparse matrix, which is 0/1 data or counts; "
                    "pass kind='binary' or kind='nonnegative'",
                )
            if len(loaded.files) != 1:
                raise ArgumentError(
                    "data", f"the file {str(path)!r} holds {len(loaded.files)} arrays; save the table on its own"
                )
            loaded = loaded[loaded.files[0]]
    return open_array(loaded, columns)
