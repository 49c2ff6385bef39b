import numpy as np
import pytest

from plandp.noise.bits import OsBits, SeededBits, uniform_integer, unsigned_words, whole_bytes


def test_a_seed_gives_the_same_bits_and_every_call_gives_new_ones() -> None:
    first, again, other = SeededBits(7), SeededBits(7), SeededBits(8)
    taken = [first.take(32) for _ in range(4)]
    assert taken == [again.take(32) for _ in range(4)]
    assert len({*taken, *(other.take(32) for _ in range(4))}) == 8


def test_nearby_seeds_and_calls_do_not_share_a_stream() -> None:
    # "1" + "12" and "11" + "2" must not be the same name of a stream.
    first, other = SeededBits(1), SeededBits(11)
    assert not {first.take(16) for _ in range(20)} & {other.take(16) for _ in range(20)}


def test_negative_seeds_are_seeds() -> None:
    assert SeededBits(-1).take(16) != SeededBits(1).take(16)


def test_operating_system_bits_differ_at_every_call() -> None:
    assert len({OsBits().take(16) for _ in range(100)}) == 100
    assert OsBits().take(0) == b""


class Fixed:
    def __init__(self, content: bytes) -> None:
        self.content = content

    def take(self, nbytes: int) -> bytes:
        taken, self.content = self.content[:nbytes], self.content[nbytes:]
        assert len(taken) == nbytes
        return taken


def test_words_are_little_endian_on_every_machine() -> None:
    words = unsigned_words(Fixed(bytes(range(16))), words=2, nbytes=8)
    assert words.tolist() == [0x0706050403020100, 0x0F0E0D0C0B0A0908]


@pytest.mark.parametrize(
    ("nbits", "nbytes"), [(0, 1), (1, 1), (8, 1), (9, 2), (16, 2), (17, 4), (32, 4), (33, 8), (64, 8)]
)
def test_smallest_word_for_bits(nbits: int, nbytes: int) -> None:
    assert whole_bytes(nbits) == nbytes


def test_uniform_integer_uses_exactly_its_bits() -> None:
    assert uniform_integer(Fixed(b"\xff\xff"), 9) == 511
    assert uniform_integer(Fixed(b"\x00\xfe"), 9) == 0
    assert uniform_integer(Fixed(b""), 0) == 0
    assert np.unique([uniform_integer(SeededBits(seed), 2) for seed in range(100)]).tolist() == [0, 1, 2, 3]
