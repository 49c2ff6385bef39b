"""Cells and arguments that could trip code up."""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from plandp_lab.fuzz.canary import CANARY, CANARY_TEXT

Draw = Callable[[st.SearchStrategy[Any]], Any]

SPECIAL_FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, 1 / 3, 100.0, float(CANARY), -float(CANARY), math.nan, math.inf, -math.inf,
    1.7976931348623157e308, -1.7976931348623157e308, 5e-324, 2.2250738585072014e-308, 2.0**53 + 2, 1e16, 2.0**100,
]  # fmt: skip
SPECIAL_INTEGERS = [
    0, 1, -1, 2, 7, 100, CANARY, -CANARY, 127, 128, 255, 256, 2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), 2**63,
    2**64 - 1, 2**64, -(2**127), 2**128, 10**400,
]  # fmt: skip
SPECIAL_TEXTS = [
    CANARY_TEXT, "", " ", "a", "b", "home", "0", "7", "007", "1.5", "1e999", "nan", "inf", "NaN", "-", "1_000", "٣",
    "true", "null", "\x00", "\ud800", "\r", "a\nb", 'q"q', '"', ",", "\t", "ä", "x" * 5000, "=1+1", "%s%n", "{}",
    "../../x",
]  # fmt: skip

floats = st.one_of(st.sampled_from(SPECIAL_FLOATS), st.floats(-200, 200), st.floats())
integers = st.one_of(st.sampled_from(SPECIAL_INTEGERS), st.integers(-200, 200), st.integers())
texts = st.one_of(st.sampled_from(SPECIAL_TEXTS), st.text(max_size=6))
valid_texts = texts.map(lambda text: text.encode("utf-8", "replace").decode("utf-8"))  # no lone surrogates
numbers = st.one_of(floats, integers, st.none(), st.booleans())

NUMERIC_DTYPES = (
    "?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", ">f8", ">i4", ">u2", "g",
)  # fmt: skip
OTHER_DTYPES = ("O", "U3", "U24", "S4", "M8[s]", "m8[ns]", "c8", "c16", "V3", "i4,f8")


def numpy_cells(dtype: str, count: int) -> st.SearchStrategy[NDArray[Any]]:
    """Return `count` values of a numeric dtype: special ones, tame ones, or any bits that fit."""
    kind = np.dtype(dtype)

    def cast(values: list[Any]) -> NDArray[Any]:
        with np.errstate(all="ignore"):
            if kind.kind in "iu":
                least, most = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
                return np.array([min(max(int(value), least), most) for value in values], kind)
            return np.array([float(min(max(value, -(10**300)), 10**300)) if isinstance(value, int) else value
                             for value in values]).astype(kind)  # fmt: skip

    tame = st.lists(st.integers(0, 100), min_size=count, max_size=count).map(cast)
    special = st.lists(integers if kind.kind in "iu" else floats, min_size=count, max_size=count).map(cast)
    size = count * kind.itemsize
    # Booleans other than 0 and 1 are no values that NumPy can make; all other bits are.
    raw = st.binary(min_size=size, max_size=size).map(lambda bits: np.frombuffer(bits, kind).copy())
    return st.one_of(tame, special, special if kind.kind == "b" else raw)


def one_in(draw: Draw, count: int) -> bool:
    """Whether this is one of the rare cases, one in so many; the simplest case never is."""
    return bool(draw(st.integers(0, count - 1)) == count - 1)


class NotIterableNumber:
    """An object of no use to anybody."""

    def __repr__(self) -> str:
        return "NotIterableNumber()"


STRANGE: list[Any] = [
    None, True, False, 0, -1, 1, 2, 3, 10**30, 10**400, -(10**400), 10**5000, 0.0, -0.0, 0.5, 1e-13, 1e7, 5e-324, 1e308,
    math.nan, math.inf, -math.inf, 1j, "", " ", "x", "plan", "real", "1/8", "1/0", "1e999999999", "-1/8", "nan", "inf",
    "0x10", "1_0", "٣", "\ud800", "\x00", "a" * 3000, "bounds", "exact", b"x", bytearray(b"x"), [], (), {}, set(),
    frozenset({1}),
    [None], [math.nan], [[]], [[0]], [(0, 1)], [(1, 0)], [(0, 1), (0, 1)], [[0, 1], [0, 1], [0, 1]], (0, 1), (1, 0),
    (0, 0),
    (0, math.inf), (math.nan, 1), (-1e308, 1e308), (0, 1e-300), (0, 10**400), (0, "1"), ("0", "1"), (0, 1, 2), (True,
    False),
    {"a": (0, 1)}, {0: (0, 1)}, {0: 1}, {None: (0, 1)}, {1.5: (0, 1)}, {(0, 1): 2}, {"a": None}, Fraction(1, 3),
    Fraction(-1, 3),
    Fraction(10**400, 3), Fraction(1, 10**400), Decimal("0.1"), Decimal("nan"), Decimal("sNaN"), Decimal("inf"),
    Decimal("1e-400"), Decimal("1e999999"), np.array(5.0), np.array([0, 1]), np.array([[0, 1]]), np.zeros((2, 2, 2)),
    np.array(["a", "b"]), np.array([None, 1], dtype=object), np.float16(1.5), np.float32(0.1), np.float64("nan"),
    np.int64(3), np.uint8(3), np.bool_(True), np.longdouble(1) / 3, np.complex64(1), np.datetime64("2020-01-01"),
    np.datetime64("NaT"), np.timedelta64(3, "s"), np.timedelta64("NaT"), np.ma.masked, np.ma.array([0, 1],
    mask=[False, True]),
    np.str_("plan"), np.bytes_(b"x"), range(2), slice(0, 1), int, print, Ellipsis, NotImplemented, NotIterableNumber(),
    np.dtype("f8"), memoryview(b"ab"), [[1, [2, [3]]]], ["combine"], ["clamp", "clamp"], ("shrink", None), [b"combine"],
]  # fmt: skip


def pandas_strangers() -> list[Any]:
    """Return strange values that pandas makes; none where it is not installed."""
    try:
        import pandas
    except ImportError:
        return []
    return [
        pandas.NA,
        pandas.NaT,
        pandas.Series([0, 1]),
        pandas.Series({"a": (0, 1)}),
        pandas.Series([(0, 1), (0, 1)], index=[0, 0]),
        pandas.DataFrame({"a": [0, 1]}),
        pandas.Index(["a"]),
        pandas.Timestamp("2020-01-01"),
    ]


strange = st.one_of(
    st.sampled_from([*STRANGE, *pandas_strangers()]),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.tuples(inner, inner),
            st.dictionaries(st.one_of(st.text(max_size=2), st.integers(0, 3)), inner, max_size=3),
        ),
        max_leaves=5,
    ),
)
