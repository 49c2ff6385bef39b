"""Cells of a CSV file to numbers: the loop of `data/csv_text.py`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

END = ord("\n")
RETURN = ord("\r")
QUOTE = ord('"')
CASE = ord("a") - ord("A")
LETTER_A = ord("a")
LETTER_I = ord("i")
LETTER_Z = ord("z")
SPACE = ord(" ")
PLUS = ord("+")
MINUS = ord("-")
POINT = ord(".")
ZERO = ord("0")
LARGE_E = ord("E")
SMALL_E = ord("e")

MOST_DIGITS = 19
"""So many digits are a number below 2**64."""

CUT = 17
"""By less than so many units of its upper 64 bits a product grows that lacks the digits beyond these."""

LARGEST_EXPONENT = 60
"""Cells beyond 10**±60 are left to Python."""

LONGEST = 4096
"""So are cells with more characters: Python takes a thousand million digits for no number, be they all zeros."""


def split_product(one: Any, other: Any) -> Any:
    """The upper 64 bits of the product of two numbers of 64 bits."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a, b = one >> half, one & low
    c, d = other >> half, other & low
    ad, bc = a * d, b * c
    return a * c + (ad >> half) + (bc >> half) + (((ad & low) + (bc & low) + ((b * d) >> half)) >> half)


def decimal_at(text: NDArray[np.uint8], at: Any) -> Any:
    """What decimal number begins at a place: where it ends, its sign, digits and power of ten, and if it is one.

    Of more than `MOST_DIGITS` digits the last are left out, which is told too.
    """
    size = len(text)
    negative = False
    if at < size and (text[at] == MINUS or text[at] == PLUS):
        negative = text[at] == MINUS
        at += 1
    digits = np.uint64(0)
    significant = 0
    power = np.int64(0)
    found = more = False
    while at < size and ZERO <= text[at] < ZERO + 10:
        if significant < MOST_DIGITS:
            digits = digits * np.uint64(10) + np.uint64(text[at] - ZERO)
            significant += 1 if digits else 0
        else:
            more = True
            power += 1
        found = True
        at += 1
    if at < size and text[at] == POINT:
        at += 1
        while at < size and ZERO <= text[at] < ZERO + 10:
            if significant < MOST_DIGITS:
                digits = digits * np.uint64(10) + np.uint64(text[at] - ZERO)
                significant += 1 if digits else 0
                power -= 1
            else:
                more = True
            found = True
            at += 1
    if found and at < size and (text[at] == SMALL_E or text[at] == LARGE_E):
        at += 1
        less = False
        if at < size and (text[at] == MINUS or text[at] == PLUS):
            less = text[at] == MINUS
            at += 1
        exponent = np.int64(0)
        found = False
        while at < size and ZERO <= text[at] < ZERO + 10 and exponent < LARGEST_EXPONENT:
            exponent = exponent * 10 + np.int64(text[at]) - ZERO
            found = True
            at += 1
        power += -exponent if less else exponent
    return at, negative, digits, power, found, more


def read_cells(
    text: NDArray[np.uint8],
    begins: NDArray[np.int64],
    places: NDArray[np.int64],
    delimiter: int,
    tens: NDArray[np.uint64],
    twos: NDArray[np.int64],
    scales: NDArray[np.float64],
    rows: NDArray[np.float64],
    left: NDArray[np.bool_],
    spans: NDArray[np.int64],
) -> None:
    """Write the cells of lines that begin at `begins` to `rows`, each to its column's place, -1 for columns not asked.

    A cell that is an ordinary decimal number becomes the nearest float64, an empty one NaN, and so does one that begins
    with a letter, but for the i of inf, and all cells of a line that has not one for every column.  Any other sets
    `left`, and `spans` to where it begins and ends.  Quotes stand around whole cells and nowhere else, and are not part
    of them.

    10**q lies in [tens, tens + 1)·2**twos at place q + LARGEST_EXPONENT, so that digits·10**q lies in
    [high, high + 2)·2**e; where both ends of that round to one float64, that is the nearest.  Digits that were left out
    are less than one more of at least 10**18, which is shifted by 4 bits at most: 16 more.
    """
    size = len(text)
    nan = np.float64(np.nan)
    middle = len(scales) // 2
    for r in range(len(begins)):
        at = begins[r]
        column = 0
        while True:
            place = places[column] if column < len(places) else -1
            quoted = at < size and text[at] == QUOTE
            at += 1 if quoted else 0
            begin = at
            ordinary = no_number = False
            number = nan
            if place >= 0:
                while at < size and text[at] == SPACE:
                    at += 1
                first = text[at] | CASE if at < size else CASE
                no_number = LETTER_A <= first <= LETTER_Z and first != LETTER_I
                at, negative, digits, power, ordinary, more = decimal_at(text, at)
                if at == begin:  # an empty cell, or one of anything else
                    ordinary = True
                elif ordinary and digits == 0:
                    number = np.float64(-0.0 if negative else 0.0)
                elif ordinary and -LARGEST_EXPONENT <= power <= LARGEST_EXPONENT:
                    shift = 0
                    for width in (32, 16, 8, 4, 2, 1):
                        if digits >> np.uint64(64 - width) == 0:
                            digits = digits << np.uint64(width)
                            shift += width
                    high = split_product(digits, tens[power + LARGEST_EXPONENT])
                    cut = 11 if high >> np.uint64(63) else 10
                    rest = np.int64(high & np.uint64((1 << cut) - 1))
                    half = 1 << (cut - 1)
                    if half - (CUT if more else 1) <= rest <= half:  # perhaps in the middle between two
                        ordinary = False
                    else:
                        whole = np.int64(high >> np.uint64(cut)) + np.int64(rest > half)
                        number = whole * scales[middle + twos[power + LARGEST_EXPONENT] + 64 - shift + cut]
                        if negative:
                            number = -number
                else:
                    ordinary = False
            end = at
            ordinary = ordinary and end - begin <= LONGEST
            while quoted and at < size and text[at] != QUOTE:
                at += 1
            stop = at
            while at < size and text[at] != delimiter and text[at] != END:
                at += 1
            last = at == size or text[at] == END
            if not quoted:
                stop = at - 1 if last and at > begin and text[at - 1] == RETURN else at
            if place >= 0:
                rows[r, place] = number if ordinary and end == stop else nan
                if stop > begin and not no_number and not (ordinary and end == stop):
                    left[r, place] = True
                    spans[r, place, 0] = begin
                    spans[r, place, 1] = stop
            column += 1
            if last:
                break
            at += 1
        if column != len(places):
            for c in range(rows.shape[1]):
                rows[r, c] = nan
                left[r, c] = False
