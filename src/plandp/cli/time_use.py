"""The table of the demo: a made-up survey of how people spend their day, the same on every machine."""

import numpy as np
from numpy.typing import NDArray

PEOPLE = 5000
MINUTES_A_DAY = 1440

# activity, share of people who do it on a day, their median in minutes, spread of the logarithm
ACTIVITIES = (
    ("sleep", 1.00, 500, 0.15),
    ("work", 0.55, 430, 0.25),
    ("television", 0.80, 110, 0.5),
    ("eating", 0.97, 65, 0.3),
    ("travel", 0.85, 60, 0.4),
    ("internet", 0.75, 50, 0.6),
    ("personal care", 0.98, 45, 0.3),
    ("housework", 0.60, 50, 0.5),
    ("visits", 0.40, 70, 0.5),
    ("cooking", 0.70, 40, 0.4),
    ("child care", 0.20, 80, 0.5),
    ("shopping", 0.40, 35, 0.4),
    ("reading", 0.30, 40, 0.5),
    ("sport", 0.25, 45, 0.4),
    ("garden", 0.15, 50, 0.5),
    ("pets", 0.25, 25, 0.4),
    ("naps", 0.15, 30, 0.4),
    ("phone calls", 0.30, 10, 0.5),
    ("music", 0.10, 30, 0.5),
    ("waiting", 0.50, 6, 0.4),
    ("paperwork", 0.20, 14, 0.5),
    ("repairs", 0.06, 35, 0.5),
    ("prayer", 0.12, 15, 0.4),
    ("letters", 0.05, 12, 0.4),
)
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89)

NAMES = tuple(name for name, *_ in ACTIVITIES)


def time_use_table() -> NDArray[np.float64]:
    """Return minutes a day, one row per invented person, one column per activity of `NAMES`."""
    does, median, log_spread = (np.array(column) for column in list(zip(*ACTIVITIES, strict=True))[1:])
    # Multiples of √prime modulo 1 fill the unit cube evenly: quantiles of people without a random number.
    from scipy.special import ndtri  # here, since importing SciPy takes longer than importing plandp

    quantile = (np.outer(np.arange(1, PEOPLE + 1), np.sqrt(_PRIMES)) + 0.5) % 1.0
    among_doers = np.maximum(quantile - (1.0 - does), 0.0) / does
    minutes = median * np.exp(log_spread * ndtri(among_doers))  # ndtri(0) = -inf: zero minutes
    return np.asarray(np.minimum(minutes, MINUTES_A_DAY))
