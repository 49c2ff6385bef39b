from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from plandp.errors import ArgumentError, BudgetExceeded
from plandp.noise.bits import OsBits, SeededBits
from plandp.noise.meter import IntegerArray, MeteredNoise, open_door
from plandp.noise.sampler import ExactSampler
from plandp.terms.payment import Payment

ONE = Fraction(1)


class Recorder:
    """A sampler that returns what it is told and remembers what it was asked."""

    name = "exact"
    insecure = True

    def __init__(self, noise: Callable[[int], IntegerArray] = lambda count: np.zeros(count, dtype=np.int64)) -> None:
        self.noise = noise
        self.asked: list[tuple[int, Fraction]] = []

    def draw(self, count: int, sigma2: Fraction) -> IntegerArray:
        self.asked.append((count, sigma2))
        return self.noise(count)


def door_with(sampler: Recorder, reserved: Fraction = ONE) -> MeteredNoise:
    return MeteredNoise(reserved=reserved, sampler=sampler, coins=SeededBits(0))


def release(door: MeteredNoise, query: Any, **changes: Any) -> IntegerArray:
    arguments: dict[str, Any] = {"squared_sensitivity": 8, "rho": Fraction(1, 10), "step": "sum", **changes}
    return door.release(query, **arguments)


# --- the noise that is asked for


@pytest.mark.parametrize(
    ("squared_sensitivity", "rho", "sigma2"),
    [
        (1, Fraction(1, 2), Fraction(1)),
        (64, Fraction(1, 3), Fraction(96)),
        (4 << 72, Fraction(7, 9), Fraction(18 << 72, 7)),
    ],
)
def test_sigma2_is_exactly_sensitivity_over_two_rho(squared_sensitivity: int, rho: Fraction, sigma2: Fraction) -> None:
    sampler = Recorder()
    release(door_with(sampler), np.zeros((2, 3), np.int64), squared_sensitivity=squared_sensitivity, rho=rho)
    assert sampler.asked == [(6, sigma2)]


def test_a_fraction_of_numpy_integers_is_refused_as_they_overflow() -> None:
    door = door_with(Recorder(np.zeros), reserved=ONE)
    with pytest.raises(TypeError, match="Python's integers"):
        release(door, np.zeros(1, np.int64), squared_sensitivity=1 << 60, rho=Fraction(np.int64(1), np.int64(2**40)))
    assert door.payments == ()


def test_noise_is_added_elementwise() -> None:
    door = door_with(Recorder(lambda count: np.arange(count)))
    assert release(door, np.array([[10, 20], [30, 40]])).tolist() == [[10, 21], [32, 43]]


def test_seeded_doors_repeat_and_differ_by_seed() -> None:
    query = np.arange(50)
    runs = [release(open_door(reserved=ONE, testing_seed=seed), query).tolist() for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]
    assert open_door(reserved=ONE, testing_seed=1).insecure
    assert not open_door(reserved=ONE).insecure


def test_two_releases_of_one_door_differ() -> None:
    door = open_door(reserved=ONE, testing_seed=1)
    first, second = (release(door, np.zeros(50, np.int64)).tolist() for _ in range(2))
    assert first != second


# --- dtype and shape follow public things only


@pytest.mark.parametrize("shape", [(), (0,), (1,), (5,), (2, 3), (2, 0, 3)])
@pytest.mark.parametrize(
    ("given", "squared_sensitivity", "returned"),
    [
        (np.int64, 8, np.int64),
        (np.int8, 8, np.int64),
        (np.uint32, 8, np.int64),
        (np.object_, 8, np.object_),
        (np.int64, 1 << 200, np.object_),
        (np.object_, 1 << 200, np.object_),
    ],
)
def test_dtype_and_shape(shape: tuple[int, ...], given: type, squared_sensitivity: int, returned: type) -> None:
    query = np.zeros(shape, dtype=given)
    released = release(open_door(reserved=ONE), query, squared_sensitivity=squared_sensitivity)
    assert type(released) is np.ndarray
    assert released.dtype == returned
    assert released.shape == shape
    if returned is np.object_:
        assert all(type(value) is int for value in released.ravel().tolist())


def test_numpy_integers_inside_an_object_array_do_not_overflow() -> None:
    query = np.array([np.int64(2**63 - 1)], dtype=object)
    door = door_with(Recorder(lambda count: np.full(count, 10)))
    assert release(door, query).tolist() == [2**63 + 9]


def test_query_of_huge_integers_is_exact() -> None:
    query = np.array([2**100 + 1, -(2**100)], dtype=object)
    door = door_with(Recorder(lambda count: np.full(count, -3)))
    assert release(door, query).tolist() == [2**100 - 2, -(2**100) - 3]


def test_arrays_with_other_ideas_of_addition_come_out_plain() -> None:
    masked = np.ma.masked_array(np.arange(4), mask=[True, False, False, True])
    released = release(door_with(Recorder()), masked)
    assert type(released) is np.ndarray
    assert released.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("given", [np.int64, object])
def test_query_is_not_changed_nor_shared(given: type) -> None:
    query = np.arange(6).astype(given)
    query.setflags(write=False)
    released = release(open_door(reserved=ONE), query)
    assert query.tolist() == list(range(6))
    assert not np.shares_memory(query, released)


@pytest.mark.parametrize("query", [[1, 2], 3, np.zeros(2), np.zeros(2, bool), np.zeros(2, np.uint64), np.array(["1"])])
def test_query_that_is_no_integer_array(query: object) -> None:
    door = door_with(Recorder())
    with pytest.raises(TypeError, match="query must"):
        release(door, query)
    assert door.payments == ()


def test_floats_in_an_object_array_are_refused_without_showing_them() -> None:
    with pytest.raises(TypeError) as caught:
        release(door_with(Recorder()), np.array([1, 2.7182], dtype=object))
    assert "2.7182" not in str(caught.value)


# --- overflow

EDGE = 1 << 62
ENDS = [
    -(1 << 63),
    -(1 << 63) + 1,
    -EDGE - 1,
    -EDGE,
    -EDGE + 1,
    -1,
    0,
    1,
    EDGE - 1,
    EDGE,
    EDGE + 1,
    (1 << 63) - 1,
]


@pytest.mark.parametrize("noise", ENDS)
def test_int64_sum_is_the_clamped_sum_for_every_query_and_noise(noise: int) -> None:
    def clamp(value: int, edge: int) -> int:
        return max(-edge, min(edge, value))

    door = door_with(Recorder(lambda count: np.full(count, noise, dtype=np.int64)))
    with np.errstate(all="raise"):
        released = release(door, np.array(ENDS, dtype=np.int64))
    # In Python integers: the query held inside (-2^62, 2^62), the sum at ±2^62.
    assert released.tolist() == [clamp(clamp(value, EDGE - 1) + noise, EDGE) for value in ENDS]


def test_largest_promised_query_with_largest_int64_noise() -> None:
    query = np.array([EDGE - 1, 1 - EDGE] * 500)
    released = release(open_door(reserved=ONE), query, squared_sensitivity=1 << 96, rho=Fraction(1, 2))
    # Noise of sigma 2^48 cannot carry a sum over the edge into another sign.
    assert np.array_equal(np.sign(released), np.sign(query))
    assert np.abs(released).max() <= EDGE


# --- payments


def test_payments_are_written_and_added_up_exactly() -> None:
    door = door_with(Recorder())
    release(door, np.zeros(3, np.int64), rho=Fraction(1, 3), step="center", squared_sensitivity=3)
    release(door, np.zeros((2, 2), np.int64), rho=Fraction(2, 3), step="sum", squared_sensitivity=4)
    assert door.payments == (
        Payment(step="center", rho=Fraction(1, 3), squared_sensitivity=3, values=3),
        Payment(step="sum", rho=Fraction(2, 3), squared_sensitivity=4, values=4),
    )
    assert door.spent == ONE
    assert door.remaining == 0


def test_ten_tenths_fit_exactly_and_nothing_more() -> None:
    sampler = Recorder()
    door = door_with(sampler)
    for _ in range(10):
        release(door, np.zeros(1, np.int64))
    with pytest.raises(BudgetExceeded, match="nothing was drawn"):
        release(door, np.zeros(1, np.int64), rho=Fraction(1, 10**40))
    assert len(sampler.asked) == len(door.payments) == 10
    assert door.spent == ONE


def test_refusal_keeps_what_is_left_usable() -> None:
    door = door_with(Recorder())
    with pytest.raises(BudgetExceeded):
        release(door, np.zeros(1, np.int64), rho=Fraction(11, 10))
    assert door.remaining == ONE
    release(door, np.zeros(1, np.int64), rho=ONE)
    assert door.remaining == 0


def test_payment_stands_before_the_draw_and_when_the_draw_fails() -> None:
    seen: list[int] = []

    def failing(count: int) -> IntegerArray:
        seen.append(len(door.payments))
        raise RuntimeError

    door = door_with(Recorder(failing))
    with pytest.raises(RuntimeError):
        release(door, np.zeros(1, np.int64))
    assert seen == [1]
    assert door.spent == Fraction(1, 10)


def test_payments_cannot_be_changed_from_outside() -> None:
    door = door_with(Recorder())
    release(door, np.zeros(1, np.int64))
    assert isinstance(door.payments, tuple)
    for name in ("payments", "spent", "remaining"):
        with pytest.raises(AttributeError):
            setattr(door, name, ())
    with pytest.raises(AttributeError):
        door.payments[0].rho = Fraction(0)


# --- public arguments


@pytest.mark.parametrize("wrong", [0, -1, True, 1.0, Fraction(1), np.int64(1), None, "1"])
def test_squared_sensitivity_must_be_a_positive_int(wrong: object) -> None:
    door = door_with(Recorder())
    with pytest.raises(TypeError, match="squared_sensitivity must be an int above 0"):
        release(door, np.zeros(1, np.int64), squared_sensitivity=wrong)
    assert door.payments == ()


@pytest.mark.parametrize("wrong", [Fraction(0), Fraction(-1, 2), True, 1, 0.5, None, "1/2"])
def test_rho_must_be_a_positive_fraction(wrong: Any) -> None:
    door = door_with(Recorder())
    with pytest.raises(TypeError, match="rho must be a Fraction above 0"):
        release(door, np.zeros(1, np.int64), rho=wrong)
    assert door.payments == ()
    with pytest.raises(TypeError, match="reserved must be a Fraction above 0"):
        open_door(reserved=wrong)


def test_step_must_be_a_str() -> None:
    with pytest.raises(TypeError, match="step must be a str"):
        release(door_with(Recorder()), np.zeros(1, np.int64), step=3)


def test_open_door_says_what_is_allowed() -> None:
    with pytest.raises(ArgumentError, match="sampler: must be 'exact' or 'opendp'"):
        open_door(reserved=ONE, sampler="numpy")
    with pytest.raises(ArgumentError, match="testing_seed: OpenDP's noise cannot be seeded"):
        open_door(reserved=ONE, sampler="opendp", testing_seed=1)
    for wrong in (True, 1.0, "1"):
        with pytest.raises(ArgumentError, match="testing_seed: must be an int"):
            open_door(reserved=ONE, testing_seed=wrong)
    assert open_door(reserved=ONE).sampler == "exact"


def test_opendp_door() -> None:
    pytest.importorskip("opendp", reason="the extra opendp is not installed")
    door = open_door(reserved=ONE, sampler="opendp")
    released = release(door, np.arange(4).reshape(2, 2))
    assert released.dtype == np.int64
    assert released.shape == (2, 2)
    assert (door.sampler, door.insecure, door.spent) == ("opendp", False, Fraction(1, 10))


# --- public coins


@pytest.mark.parametrize("below", [1, 2, 3, 255, 256, 257, 65537, (1 << 32) + 1, (1 << 62) + 1, 1 << 63])
@pytest.mark.parametrize("count", [0, 1, 1000])
def test_public_integers_are_in_range_and_free(below: int, count: int) -> None:
    door = MeteredNoise(reserved=ONE, sampler=ExactSampler(OsBits()), coins=OsBits())
    integers = door.public_integers(below=below, count=count)
    assert integers.dtype == np.int64
    assert integers.shape == (count,)
    assert all(0 <= integer < below for integer in integers.tolist())
    assert door.payments == ()
    assert door.spent == 0


def test_public_integers_reach_both_ends() -> None:
    integers = open_door(reserved=ONE, testing_seed=3).public_integers(below=5, count=1000)
    assert set(integers.tolist()) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize(("below", "count"), [(0, 1), (-1, 1), (2.0, 1), (True, 1), ((1 << 63) + 1, 1)])
def test_public_integers_below_must_make_sense(below: Any, count: int) -> None:
    with pytest.raises(ArgumentError, match=r"below: must be an int from 1 to 2\^63"):
        open_door(reserved=ONE).public_integers(below=below, count=count)


@pytest.mark.parametrize("count", [-1, 1.0, True])
def test_public_integers_count_must_make_sense(count: Any) -> None:
    with pytest.raises(ArgumentError, match="count: must be an int, 0 or more"):
        open_door(reserved=ONE).public_integers(below=2, count=count)
