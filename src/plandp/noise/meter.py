"""The one metered door to randomness: noise is paid for before it is drawn, public coins are free."""

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from plandp.errors import ArgumentError, BudgetExceeded
from plandp.noise.bits import Bits, OsBits, SeededBits, unsigned_words, whole_bytes
from plandp.noise.exponential_choice import Choices, draw_choice, largest_rate
from plandp.noise.opendp_sampler import OpenDPSampler
from plandp.noise.sampler import ExactSampler, IntegerArray, Sampler
from plandp.terms.payment import EXPONENTIAL, Payment

__all__ = ["IntegerArray", "MeteredNoise", "doors_made_by", "open_door"]

_REACH = np.int64(1 << 62)
SMALLEST_FOR_OPENDP = Fraction(1, 2**32)  # the noise of every step is then within its range, whatever the radius


class MeteredNoise:
    """The one metered door: all that passes it is together `reserved`-zCDP, however the queries were chosen.

    It is `spent`-zCDP if the costs were fixed beforehand. Holds if no query's squared ℓ2 sensitivity, and no
    candidate's, exceeds what the caller says; it is the only mutable object of the core. Proof:
    docs/proofs/metered_door.md.
    """

    def __init__(self, *, reserved: Fraction, sampler: Sampler, coins: Bits, choices: Bits | None = None) -> None:
        _require_positive_fraction("reserved", reserved)
        self._reserved = reserved
        self._sampler = sampler
        self._coins = coins
        # How many bits a choice takes depends on its candidates: with a seed they would shift the coins after it.
        self._choices = coins if choices is None else choices
        self._payments: tuple[Payment, ...] = ()
        self._spent = Fraction(0)
        self._lock = Lock()

    def release(self, query: IntegerArray, *, squared_sensitivity: int, rho: Fraction, step: str) -> IntegerArray:
        """Return `query` plus discrete Gaussian noise of sigma2 = squared_sensitivity / (2 rho): rho-zCDP.

        Pays first; past the reserved budget it refuses before anything is drawn. An integer dtype in and
        2^-40 <= sigma2 <= 2^96 give int64, clamped to ±2^62 before and after the noise; else Python ints.
        """
        if type(squared_sensitivity) is not int or squared_sensitivity <= 0:
            raise TypeError("squared_sensitivity must be an int above 0")
        _require_positive_fraction("rho", rho)
        if not isinstance(step, str):
            raise TypeError("step must be a str")
        integers = _integers_of(query)
        self._pay(Payment(step=step, rho=rho, squared_sensitivity=squared_sensitivity, values=integers.size))
        sigma2 = Fraction(squared_sensitivity * rho.denominator, 2 * rho.numerator)
        noise = self._sampler.draw(integers.size, sigma2).reshape(integers.shape)
        return _sum(integers, noise)

    def choose(self, candidates: Choices, *, sensitivity: int, rho: Fraction, step: str) -> list[int]:
        """Return one grid point for each of the candidates, by exponential mechanisms: rho-zCDP in all.

        Grid points are numbered from 0 through all intervals in order; in which interval a point lies is not told.
        A grid point of penalty u has probability ∝ exp(-c·u), exactly, c the largest rational of 64 bits with
        len(candidates) · (c · sensitivity)² ≤ 2 rho.  `sensitivity` bounds how far the penalty of any grid point
        moves when one row is replaced.  Pays first. Proof: docs/proofs/exponential_choice.md.
        """
        if type(sensitivity) is not int or sensitivity <= 0:
            raise TypeError("sensitivity must be an int above 0")
        _require_positive_fraction("rho", rho)
        if not isinstance(step, str):
            raise TypeError("step must be a str")
        choices = len(candidates)
        if choices < 1:
            raise TypeError("candidates must hold at least one choice")
        price = choices * sensitivity**2
        self._pay(Payment(step=step, rho=rho, squared_sensitivity=price, values=choices, mechanism=EXPONENTIAL))
        return self._draw_choices(candidates, choices, largest_rate(rho=rho, sensitivity=sensitivity, choices=choices))

    def public_integers(self, *, below: int, count: int) -> NDArray[np.int64]:
        """Return `count` independent exact uniform integers in [0, below): public coins, free of charge."""
        if type(below) is not int or not 1 <= below <= 1 << 63:
            raise ArgumentError("below", "must be an int from 1 to 2^63")
        if type(count) is not int or count < 0:
            raise ArgumentError("count", "must be an int, 0 or more")
        nbits = (below - 1).bit_length()
        integers = np.empty(count, dtype=np.int64)
        done = 0
        while done < count:
            # At least half of the masked words are below `below`, so few rounds are needed.
            words = unsigned_words(self._coins, words=2 * (count - done) + 8, nbytes=whole_bytes(nbits))
            masked = words.astype(np.int64) & ((1 << nbits) - 1)
            kept = masked[masked < below][: count - done]
            integers[done : done + kept.size] = kept
            done += kept.size
        return integers

    def public_permutation(self, count: int) -> NDArray[np.int64]:
        """Return an exactly uniform order of 0 … count-1: public coins, free of charge."""
        while True:
            marks = self.public_integers(below=1 << 63, count=count)
            order = np.argsort(marks, kind="stable")
            in_order = marks[order]
            # Different marks are in every order equally often; equal ones, not seen in a lifetime, are drawn again.
            if not np.any(in_order[1:] == in_order[:-1]):
                return order.astype(np.int64)

    def public_signs(self, count: int) -> NDArray[np.int8]:
        """Return `count` independent fair signs, -1 or 1: public coins, free of charge."""
        return (2 * self.public_integers(below=2, count=count) - 1).astype(np.int8)

    def public_normals(self, count: int) -> NDArray[np.float64]:
        """Return `count` independent standard normals, up to float64: public coins, free of charge.

        By Box and Muller from 53 bits each, so none is beyond 8.6.  Nobody's privacy may rest on them.
        """
        pairs = (count + 1) // 2
        radius, angle = (self.public_integers(below=1 << 53, count=pairs) * 2.0**-53 for _ in range(2))
        radius = np.sqrt(-2.0 * np.log(1.0 - radius))  # 1 - radius is above 0
        angle *= 2.0 * np.pi
        return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:count]

    @property
    def payments(self) -> tuple[Payment, ...]:
        """All payments so far, in order."""
        return self._payments

    @property
    def spent(self) -> Fraction:
        """The exact sum of all payments."""
        return self._spent

    @property
    def remaining(self) -> Fraction:
        """What is left of the reserved budget."""
        return self._reserved - self._spent

    @property
    def sampler(self) -> str:
        """The name of the sampler, for the receipt."""
        return self._sampler.name

    @property
    def insecure(self) -> bool:
        """Whether noise or choices can be predicted, as with a testing seed."""
        return self._sampler.insecure or not isinstance(self._choices, OsBits)

    def _draw_choices(self, candidates: Choices, choices: int, rate: Fraction) -> list[int]:
        chosen: list[int] = []
        for each in candidates:
            if len(chosen) == choices:
                raise TypeError("there are more candidates than were paid for")
            chosen.append(draw_choice(each, rate, self._choices))
        return chosen

    def _pay(self, payment: Payment) -> None:
        # Check and entry are one step, so that two threads cannot overspend together.
        with self._lock:
            spent = self._spent + payment.rho
            if spent > self._reserved:
                raise BudgetExceeded(
                    f"step {payment.step!r} asks for rho = {payment.rho}, but only "
                    f"{self._reserved - self._spent} of {self._reserved} is left; nothing was drawn"
                )
            self._payments = (*self._payments, payment)
            self._spent = spent


_MAKER: ContextVar[Callable[[Fraction], MeteredNoise] | None] = ContextVar("maker of doors", default=None)


@contextmanager
def doors_made_by(make: Callable[[Fraction], MeteredNoise]) -> Iterator[None]:
    """Within this block `open_door` hands out what `make` makes of the reserved budget: for the audit, which watches.

    Only doors that call themselves insecure are handed out, and every release says so.
    """
    before = _MAKER.set(make)
    try:
        yield
    finally:
        _MAKER.reset(before)


def open_door(*, reserved: Fraction, sampler: str = "exact", testing_seed: int | None = None) -> MeteredNoise:
    """Open a door with `reserved` rho; a `testing_seed` makes all of it reproducible and thus insecure."""
    if not isinstance(sampler, str) or sampler not in ("exact", "opendp"):
        raise ArgumentError("sampler", "must be 'exact' or 'opendp'")
    if testing_seed is None:
        bits: Bits = OsBits()
        choices = bits
    elif type(testing_seed) is not int:
        raise ArgumentError("testing_seed", "must be an int, or None for noise that protects")
    elif sampler == "opendp":
        raise ArgumentError("testing_seed", "OpenDP's noise cannot be seeded; use sampler='exact' for tests")
    else:
        bits = SeededBits(testing_seed)
        choices = SeededBits(testing_seed, purpose="choices ")
    if sampler == "opendp" and reserved < SMALLEST_FOR_OPENDP:
        raise ArgumentError("sampler", "'opendp' draws no noise for rho below 2**-32; use sampler='exact'")
    make = _MAKER.get()
    if make is not None:
        door = make(reserved)
        if not door.insecure:
            raise TypeError("a door that stands in for the real one must call itself insecure")
        return door
    source: Sampler = OpenDPSampler() if sampler == "opendp" else ExactSampler(bits)
    return MeteredNoise(reserved=reserved, sampler=source, coins=bits, choices=choices)


def _require_positive_fraction(argument: str, value: Fraction) -> None:
    # of Python's integers: those of NumPy, which a Fraction keeps as they are, could overflow
    python_integers = isinstance(value, Fraction) and type(value.numerator) is type(value.denominator) is int
    if not python_integers or value.numerator <= 0:
        raise TypeError(f"{argument} must be a Fraction above 0, of Python's integers")


def _integers_of(query: IntegerArray) -> IntegerArray:
    """Return a copy of the query as int64 or as Python integers, decided by its dtype alone."""
    if not isinstance(query, np.ndarray):
        raise TypeError("query must be a NumPy array")
    plain = np.asarray(query)  # no subclass: a mask or a matrix would change what + means
    if plain.dtype == np.object_:
        # index() refuses floats, and turns NumPy integers, which could overflow, into Python's.
        python_integers = [operator.index(value) for value in plain.ravel().tolist()]
        return np.array(python_integers, dtype=np.object_).reshape(plain.shape)
    if plain.dtype.kind not in "iu" or not np.can_cast(plain.dtype, np.int64):
        raise TypeError("query must have an integer dtype that fits int64, or hold Python ints (dtype object)")
    return plain.astype(np.int64)


def _sum(query: IntegerArray, noise: IntegerArray) -> IntegerArray:
    """Add without overflow: in int64 the sum is exactly clamp(clamp(query) + noise), both clamps at ±2^62."""
    if query.dtype == np.object_ or noise.dtype == np.object_:
        return np.asarray(query.astype(np.object_) + noise.astype(np.object_), dtype=np.object_)
    held = np.minimum(np.maximum(query, 1 - _REACH), _REACH - 1)
    # Clamping the noise to the room that `held` leaves clamps the sum, and nothing on the way leaves int64.
    room_below, room_above = -_REACH - held, _REACH - held
    return np.asarray(np.minimum(np.maximum(noise, room_below), room_above) + held)
