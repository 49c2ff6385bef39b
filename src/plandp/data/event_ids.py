"""Ids of people and items: one exact text each, and a public order of people that nobody's events can change."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np

HASH_BYTES = 16
_PERSON = b"plandp person"
_LEAST, _MOST = -(2**127), 2**128


def canonical_id(value: object) -> bytes | None:
    """Return the text of an id in UTF-8, None for a null.

    An id is its text, letter by letter: an integer is the same id as its decimal text, so 7 is "7", in every container
    alike; "007", " 7" and "7.0" are others, and Unicode is not normalised.  Everything else is null: the empty text,
    bool, floats, bytes, dates, spans of time, and integers beyond 128 bits.
    """
    if isinstance(value, str):
        return str.encode(value, "utf-8", "surrogatepass") or None
    if isinstance(value, bool | np.timedelta64):  # a span of time is an np.integer, of which int() can raise
        return None
    if isinstance(value, int | np.integer) and _LEAST <= int(value) < _MOST:
        return b"%d" % int(value)
    return None


def first_people(ids: Iterable[tuple[int, bytes]], people: int) -> Sequence[int]:
    """Return the numbers of the `people` ids that come first in the public order; ids are given with their numbers.

    The order is that of BLAKE2b of the canonical id, then of the id itself: where an id stands does not depend on the
    other ids or on any event, which is what the proof needs (docs/proofs/event_rows.md).
    """
    ranked = sorted((public_hash(text), text, number) for number, text in ids)
    return [number for _, _, number in ranked[:people]]


def public_hash(text: bytes) -> bytes:
    """Return the hash by which people are put in order: everybody can compute it, and nothing in it is secret."""
    return blake2b(text, digest_size=HASH_BYTES, person=_PERSON).digest()
