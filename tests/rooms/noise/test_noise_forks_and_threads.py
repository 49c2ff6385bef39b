import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from threading import Barrier

import numpy as np

from plandp.errors import BudgetExceeded
from plandp.noise.meter import open_door

FORKING = """
import os
import warnings
from fractions import Fraction
import numpy as np
from plandp.noise.meter import open_door

warnings.simplefilter("ignore")  # newer Pythons warn of forking beside a thread of the linear algebra library
door = open_door(reserved=Fraction(10))
def draw():
    query = np.zeros(8, np.int64)
    return door.release(query, squared_sensitivity=1 << 40, rho=Fraction(1, 2), step="x").tolist()

draw()  # whatever state there is, is there before the fork
for _ in range(2):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, repr(draw()).encode())
        os._exit(0)
    os.waitpid(child, 0)
    print(os.read(reader, 4096).decode())
print(draw())
"""


def test_forked_children_and_parent_draw_different_noise() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", FORKING],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env=environment,
    )
    first, second, parent = done.stdout.splitlines()
    assert len({first, second, parent}) == 3


class SlowFraction(Fraction):
    """Takes its time to be added, so that a check and an entry that are not one step come apart."""

    def __radd__(self, other: Fraction) -> Fraction:
        time.sleep(0.01)
        return other + Fraction(self.numerator, self.denominator)


def test_check_and_payment_are_one_step() -> None:
    door = open_door(reserved=Fraction(1))
    start = Barrier(4)

    def spend() -> bool:
        start.wait()
        try:
            door.release(np.zeros(1, np.int64), squared_sensitivity=1, rho=SlowFraction(2, 3), step="x")
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        released = sum(future.result() for future in [pool.submit(spend) for _ in range(4)])
    assert released == len(door.payments) == 1
    assert door.spent == Fraction(2, 3)


def test_threads_cannot_overspend_together() -> None:
    door = open_door(reserved=Fraction(1))
    start = Barrier(8)

    def spend() -> int:
        start.wait()
        released = 0
        for _ in range(40):
            try:
                door.release(np.zeros(3, np.int64), squared_sensitivity=1, rho=Fraction(1, 100), step="x")
            except BudgetExceeded:
                continue
            released += 1
        return released

    with ThreadPoolExecutor(8) as pool:
        released = sum(future.result() for future in [pool.submit(spend) for _ in range(8)])
    assert released == len(door.payments) == 100
    assert door.spent == 1


def test_threads_draw_different_noise_even_from_one_seed() -> None:
    door = open_door(reserved=Fraction(8), testing_seed=5)
    start = Barrier(8)

    def draw() -> tuple[int, ...]:
        start.wait()
        query = np.zeros(2000, np.int64)
        return tuple(door.release(query, squared_sensitivity=1 << 60, rho=Fraction(1), step="x").tolist())

    with ThreadPoolExecutor(8) as pool:
        draws = [future.result() for future in [pool.submit(draw) for _ in range(8)]]
    assert len({value for each in draws for value in each}) > 8 * 2000 - 50
