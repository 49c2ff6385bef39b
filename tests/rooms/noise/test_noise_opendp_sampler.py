import math
import sys
from fractions import Fraction

import numpy as np
import pytest

from plandp.errors import ArgumentError, MissingExtra
from plandp.noise.bits import SeededBits, uniform_integer
from plandp.noise.opendp_sampler import OpenDPSampler, smallest_float_scale


def test_scale_is_the_smallest_float_that_does_not_undercut_sigma() -> None:
    bits = SeededBits(51)
    rationals = [Fraction(1 + uniform_integer(bits, i % 97), 1 + uniform_integer(bits, i % 41)) for i in range(300)]
    squares = [Fraction(1 << 96), Fraction(1, 1 << 40), Fraction(9, 4)]
    near = [Fraction(3) ** 2 + Fraction(sign, 10**40) for sign in (-1, 1)]
    for sigma2 in rationals + squares + near:
        scale = smallest_float_scale(sigma2)
        assert Fraction(scale) ** 2 >= sigma2
        assert Fraction(math.nextafter(scale, 0.0)) ** 2 < sigma2


def test_scale_of_a_square_is_its_root() -> None:
    assert smallest_float_scale(Fraction(9, 4)) == 1.5
    assert smallest_float_scale(Fraction(9) + Fraction(1, 10**40)) == math.nextafter(3.0, 4.0)


def test_absence_of_opendp_is_said_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opendp", None)
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(MissingExtra, match=r"plandp\[opendp\]") as caught:
        OpenDPSampler()
    assert caught.value.__cause__ is None


class TestWithOpenDP:
    @pytest.fixture(autouse=True)
    def _opendp(self) -> None:
        pytest.importorskip("opendp", reason="the extra opendp is not installed")

    @pytest.mark.parametrize("count", [0, 1, 7])
    @pytest.mark.parametrize("sigma2", [Fraction(1, 1 << 40), Fraction(5), Fraction(1 << 96)], ids=str)
    def test_dtype_and_shape(self, count: int, sigma2: Fraction) -> None:
        draws = OpenDPSampler().draw(count, sigma2)
        assert draws.dtype == np.int64
        assert draws.shape == (count,)

    @pytest.mark.parametrize("sigma2", [Fraction(1, 1 << 41), Fraction((1 << 96) + 1)], ids=str)
    def test_refuses_what_int64_cannot_hold(self, sigma2: Fraction) -> None:
        with pytest.raises(ArgumentError, match="sampler: 'opendp' serves"):
            OpenDPSampler().draw(3, sigma2)

    def test_name_and_security(self) -> None:
        assert OpenDPSampler().name == "opendp"
        assert not OpenDPSampler().insecure
