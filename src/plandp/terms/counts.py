"""How many rows, columns or people, as a caller says it."""

import numpy as np


def whole_number(value: object, *, most: int) -> int | None:
    """Return a whole number from 1 to `most`, given as such or as a float such as 1e4; None for anything else."""
    if isinstance(value, bool | np.timedelta64):  # a span of time is an np.integer, of which int() can raise
        return None
    if isinstance(value, int | np.integer) or (isinstance(value, float | np.floating) and value.is_integer()):
        return int(value) if 1 <= value <= most else None
    return None
