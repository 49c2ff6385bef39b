"""Machine code that is kept between processes: a file for each loop and its types, which shows whose code it is."""

import os
import pickle
from hashlib import sha256
from pathlib import Path
from threading import get_ident
from typing import Any

DIGEST = 32  # bytes of SHA-256


class KeptCode:
    """Stands in for Numba's index of kept code.

    Numba writes the index first, then the code that it names.  Two processes that compile at once, or one that is
    killed in between, can leave a name that leads to code for other types or from another version of the source, which
    is then run on arrays it was not made for.  Here a file is written whole or not at all, and used only where it is
    undamaged and was made by this Numba from this source for these types.
    """

    def __init__(self, *, folder: str, name: str, made_from: bytes) -> None:
        self._folder, self._name, self._made_from = folder, name, made_from

    def load(self, key: Any) -> Any:
        """Return the code that was kept for these types, or None."""
        try:
            stored = self._path(key).read_bytes()
        except OSError:
            return None
        content = stored[DIGEST:]
        if stored[:DIGEST] != self._digest(content):
            return None
        made_for, code = pickle.loads(content)  # it lies beside the source, and is trusted as much
        return code if made_for == key else None

    def save(self, key: Any, code: Any) -> None:
        """Keep the code for these types, in place of what was kept under that name."""
        from numba.core import serialize

        dumps: Any = serialize.dumps
        content = dumps((key, code))
        path = self._path(key)
        draft = path.with_suffix(f".{os.getpid()}-{get_ident()}")
        try:
            with draft.open("xb") as file:
                file.write(self._digest(content) + content)
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise

    def flush(self) -> None:
        """Forget what is kept: Numba has a way to ask for it."""
        for path in Path(self._folder).glob(f"{self._name}.*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, key: Any) -> Path:
        return Path(self._folder, f"{self._name}.{sha256(repr(key).encode()).hexdigest()[:DIGEST]}.nbc")

    def _digest(self, content: bytes) -> bytes:
        return sha256(self._made_from + content).digest()


def keep_whole(machine_code: Any, source: bytes) -> None:
    """Have the machine code of a loop kept by `KeptCode`; raises AttributeError where Numba keeps it in another way."""
    from numba import __version__

    cache = machine_code._cache
    folder, name, _ = cache._cache_path, cache._impl.filename_base, cache._cache_file
    made_from = sha256(__version__.encode()).digest() + sha256(source).digest()
    cache._cache_file = KeptCode(folder=folder, name=name, made_from=made_from)
