from fractions import Fraction
from hashlib import sha256

import numpy as np
import pytest

from plandp.noise import discrete_gaussian
from plandp.noise.acceptance import kept_magnitude
from plandp.noise.bits import Bits, OsBits, SeededBits
from plandp.noise.discrete_gaussian import LARGEST_SIGMA2, SMALLEST_SIGMA2, draw_discrete_gaussian
from plandp.noise.staircase import staircase_for

SIGMA2 = [
    SMALLEST_SIGMA2,
    Fraction(1, 9),
    Fraction(1),
    Fraction(355, 113),
    Fraction(10**6, 7),
    LARGEST_SIGMA2,
]


class TwoStreams:
    """Proposals from one stream, the exact verdict's few extra bits from another: paths can be compared."""

    def __init__(self) -> None:
        self.proposals, self.verdicts = SeededBits(31), SeededBits(32)

    def take(self, nbytes: int) -> bytes:
        return (self.proposals if nbytes > 8 else self.verdicts).take(nbytes)


class Everywhere:
    """Every byte is the same: the extremes of what the bits can say."""

    def __init__(self, byte: int) -> None:
        self.byte = byte

    def take(self, nbytes: int) -> bytes:
        return bytes([self.byte]) * nbytes


def by_hand(count: int, sigma2: Fraction, bits: Bits, proposals: int) -> list[int]:
    """The same batch decoded in Python integers, one proposal at a time, always by the exact verdict."""
    staircase = staircase_for(sigma2)
    raw = bits.take(8 * proposals)
    words = [int.from_bytes(raw[8 * i : 8 * i + 8], "little") for i in range(proposals)]
    s = staircase.width_bits
    size = next(size for size in (0, 1, 2, 4, 8) if s <= 8 * size)
    raw = bits.take(size * proposals) if size else b""
    offsets = [int.from_bytes(raw[size * i : size * i + size], "little") % (1 << s) for i in range(proposals)]
    draws = []
    for word, offset in zip(words, offsets, strict=True):
        block = int(staircase.block_of_selector[word % 65536])
        prefix, sign = word >> 17, -1 if word >> 16 & 1 else 1
        magnitude = kept_magnitude(staircase, block=block, offset=offset, prefix=prefix, prefix_bits=47, bits=bits)
        if magnitude is not None and (magnitude, sign) != (0, -1):
            draws.append(sign * magnitude)
    return draws[:count]


@pytest.mark.parametrize("sigma2", SIGMA2, ids=str)
def test_vectorised_draws_equal_python_integers_bit_for_bit(sigma2: Fraction) -> None:
    proposals = 4000
    batch = discrete_gaussian._kept_of_batch(staircase_for(sigma2), proposals, TwoStreams())
    assert batch.dtype == np.int64
    assert batch.tolist() == by_hand(proposals, sigma2, TwoStreams(), proposals)
    assert batch.size > 1500


@pytest.mark.parametrize("sigma2", SIGMA2, ids=str)
def test_estimate_and_exact_verdict_give_the_same_bits(sigma2: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = draw_discrete_gaussian(15_000, sigma2, TwoStreams())
    monkeypatch.setattr(discrete_gaussian, "_MARGIN", 2.0)
    slow = draw_discrete_gaussian(15_000, sigma2, TwoStreams())
    assert np.array_equal(fast, slow)


def test_a_seed_gives_the_same_noise_on_every_machine_and_version() -> None:
    digest = sha256()
    for sigma2 in SIGMA2:
        digest.update(draw_discrete_gaussian(5000, sigma2, SeededBits(33)).astype("<i8").tobytes())
    assert digest.hexdigest()[:16] == "9967c3bf09d27369"


@pytest.mark.parametrize("sigma2", SIGMA2, ids=str)
@pytest.mark.parametrize("count", [0, 1, 2, 1000, 20_000])
def test_dtype_and_shape(sigma2: Fraction, count: int) -> None:
    draws = draw_discrete_gaussian(count, sigma2, OsBits())
    assert draws.dtype == np.int64
    assert draws.shape == (count,)


def test_smallest_sigma_is_all_zeros_and_largest_fills_its_range() -> None:
    assert not draw_discrete_gaussian(1000, SMALLEST_SIGMA2, SeededBits(34)).any()
    largest = np.abs(draw_discrete_gaussian(1000, LARGEST_SIGMA2, SeededBits(34)))
    # Within 10 sigma (false alarm 1e-20); the largest of 1000 beyond 2 sigma (1e-20).
    assert 2 << 48 < largest.max() < 10 << 48


@pytest.mark.parametrize("byte", [0x00, 0x01, 0x7F, 0x80, 0xFF])
@pytest.mark.parametrize("sigma2", SIGMA2, ids=str)
def test_extreme_bits_overflow_nothing(sigma2: Fraction, byte: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Equal bytes can lead the tail's coins on forever: this test is about the arithmetic of the batch.
    monkeypatch.setattr(discrete_gaussian, "kept_magnitude", lambda *_, **__: None)
    staircase = staircase_for(sigma2)
    with np.errstate(all="raise"):
        batch = discrete_gaussian._kept_of_batch(staircase, 16, Everywhere(byte))
    assert all(abs(draw) < (staircase.tail_block + 1) << staircase.width_bits for draw in batch.tolist())


@pytest.mark.parametrize(
    ("exact", "held"), [(2**62, 2**62), (2**63 - 1, 2**63 - 1), (2**63, 2**63 - 1), (2**99, 2**63 - 1)]
)
def test_draw_beyond_int64_is_held_at_its_end(exact: int, held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discrete_gaussian, "_MARGIN", 2.0)
    monkeypatch.setattr(discrete_gaussian, "kept_magnitude", lambda *_, **__: exact)
    draws = draw_discrete_gaussian(1000, Fraction(1 << 96), SeededBits(35))
    assert set(draws.tolist()) == {held, -held}
