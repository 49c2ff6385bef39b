"""How long a part may go on."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Clock:
    """A time that was set when the part began."""

    seconds: float
    began: float = field(default_factory=time.perf_counter)

    @property
    def left(self) -> float:
        """Seconds that are left; below 0 when time is over."""
        return self.began + self.seconds - time.perf_counter()

    def rounds(self) -> Iterator[int]:
        """0, 1, 2, … until time is over; round 0 always takes place."""
        number = 0
        while number == 0 or self.left > 0:
            yield number
            number += 1
