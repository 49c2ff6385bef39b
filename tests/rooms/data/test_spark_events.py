"""Events on Spark, without Spark: what a worker makes of Arrow batches is what is made of the table in memory."""

from hashlib import blake2b

import numpy as np
import pytest

from plandp.data.event_ids import HASH_BYTES, first_people, public_hash
from plandp.data.spark_events import HashDigits, last_hash

pyarrow = pytest.importorskip("pyarrow")


def counts_of(hashes: list[bytes]):
    batch = pyarrow.record_batch([pyarrow.array(hashes, pyarrow.binary())], names=["hash"])
    return lambda known: HashDigits(known=known)(batch)[0]


def hashes_of(kind: str) -> list[bytes]:
    """Of ids, and strange ones that share all but their last bytes."""
    if kind == "ids":
        return [public_hash(b"%d" % number) for number in range(700)]
    if kind == "alike":
        return [bytes(HASH_BYTES - 1) + bytes([number]) for number in range(0, 256, 5)]
    ends = [blake2b(b"%d" % number, digest_size=3).digest() for number in range(200)]
    return [bytes([255]) * (HASH_BYTES - 3) + end for end in ends] + [bytes(HASH_BYTES)]


@pytest.mark.parametrize("kind", ["ids", "alike", "mixed"])
def test_those_up_to_the_last_hash_are_the_first_people(kind: str) -> None:
    hashes = hashes_of(kind)
    assert len(set(hashes)) == len(hashes)
    for people in (1, 2, 3, 17, len(hashes) - 1):
        last = last_hash(counts_of(hashes), people)
        assert last is not None
        assert sorted(each for each in hashes if each <= last) == sorted(hashes)[:people]
    for people in (len(hashes), len(hashes) + 1, 10**9):
        assert last_hash(counts_of(hashes), people) is None


def test_the_order_is_that_of_events_in_memory() -> None:
    ids = [b"%d" % number for number in range(300)]
    last = last_hash(counts_of([public_hash(text) for text in ids]), 120)
    assert last is not None
    kept = {number for number, text in enumerate(ids) if public_hash(text) <= last}
    assert kept == set(first_people(enumerate(ids), 120))


def test_nobody_is_more_than_any_number_of_people() -> None:
    assert last_hash(lambda known: np.zeros(1, np.int64), 1) is None
