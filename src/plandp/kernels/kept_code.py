"""Machine code that is kept between processes: a file for each loop and its types, which shows whose code it is."""

import os
import pickle
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from tempfile import mkstemp
from typing import Any

DIGEST = 32  # bytes of SHA-256
WRITABLE_BY_OTHERS = 0o022


class KeptCode:
    """Stands in for Numba's index of kept code.

    Numba writes the index first, then the code that it names.  Two processes that compile at once, or one that is
    killed in between, can leave a name that leads to code for other types or from another version of the source, which
    is then run on arrays it was not made for.  Here a file is written whole or not at all, and used only where it is
    undamaged, was made of the same (`made_from`) for these types, and nobody but its owner, this user or the
    system's, could have written it.
    """

    def __init__(self, *, folder: str, name: str, made_from: bytes) -> None:
        self._folder, self._name, self._made_from = folder, name, made_from

    def load(self, key: Any) -> Any:
        """Return the code that was kept for these types, or None."""
        try:
            with self._path(key).open("rb") as file:
                if not _is_own(os.fstat(file.fileno())):
                    return None
                stored = file.read()
        except OSError:
            return None
        content = stored[DIGEST:]
        if stored[:DIGEST] != self._digest(content):
            return None
        try:
            made_for, code = pickle.loads(content)
        except Exception:  # of whatever kind: which loops are asked for can follow from rows, and none may raise
            return None
        return code if made_for == key else None

    def save(self, key: Any, code: Any) -> None:
        """Keep the code for these types, in place of what was kept under that name."""
        from numba.core import serialize

        dumps: Any = serialize.dumps
        content = dumps((key, code))
        handle, draft = mkstemp(prefix=f"{self._name}.", suffix=".draft", dir=self._folder)  # for this user alone
        try:
            with open(handle, "wb") as file:
                file.write(self._digest(content) + content)
            Path(draft).replace(self._path(key))
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise

    def flush(self) -> None:
        """Forget what is kept: Numba has a way to ask for it."""
        for path in Path(self._folder).glob(f"{self._name}.*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, key: Any) -> Path:
        return Path(self._folder, f"{self._name}.{sha256(repr(key).encode()).hexdigest()[:DIGEST]}.nbc")

    def _digest(self, content: bytes) -> bytes:
        return sha256(self._made_from + content).digest()


def keep_whole(machine_code: Any, made_from: bytes) -> None:
    """Have the machine code of a loop kept by `KeptCode`; raises AttributeError where Numba keeps it in another way.

    Guarantee: a loop runs whatever is wrong with what was kept, or with keeping it.
    """
    cache = machine_code._cache
    folder, name, _ = cache._cache_path, cache._impl.filename_base, cache._cache_file
    cache._cache_file = KeptCode(folder=folder, name=name, made_from=made_from)
    cache.load_overload = _if_possible(cache.load_overload)
    cache.save_overload = _if_possible(cache.save_overload)


def _if_possible(step: Callable[..., Any]) -> Callable[..., Any]:
    """Return the same step, but None where it fails: which loops are asked for can follow from rows."""

    def tried(*arguments: Any) -> Any:
        try:
            return step(*arguments)
        except Exception:  # of whatever kind, as `load` has it
            return None

    return tried


def _is_own(file: os.stat_result) -> bool:
    """Whether only this user, or the system's, can have written the file: what is in it is run."""
    if not hasattr(os, "geteuid"):  # Windows, where folders of users are their own
        return True
    return file.st_uid in (0, os.geteuid()) and not file.st_mode & WRITABLE_BY_OTHERS
