"""Words and numbers on pictures: column names in any script, numbers as precise as their noise, ticks on log axes."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from plandp.terms.columns import FloatArray, Label
from plandp.terms.text_table import show_label

if TYPE_CHECKING:
    from matplotlib.axis import Axis

TEXT_SIZE, TITLE_SIZE = 9, 11
_LONGEST_NAME = 32
_TOO_LARGE = 1e150
_MOST_LOG_TICKS = 7
_SHORT = 2.0  # a logarithmic axis from a number to this many times it looks even, and has few round numbers
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LAST_RESORT = "Last Resort"  # a font that comes with matplotlib: a box for every letter there is


@dataclass(frozen=True, kw_only=True)
class Lettering:
    """The fonts in which a set of texts can be drawn, and which characters none of them has."""

    families: tuple[str, ...]
    unknown: frozenset[str]

    def name(self, label: Label) -> str:
        """Return the label on one short line; escaped where no installed font could draw it."""
        text = show_label(label, longest=_LONGEST_NAME)
        return show_label(ascii(text), longest=_LONGEST_NAME) if self.unknown.intersection(text) else text

    def sentence(self, text: str) -> str:
        """Return the text with what no installed font could draw replaced."""
        return "".join("?" if letter in self.unknown else letter for letter in text)


def lettering_for(texts: Iterable[str]) -> Lettering:
    """Return the usual font, and after it installed fonts that have what it lacks: matplotlib asks them in turn."""
    from matplotlib.font_manager import FontProperties, findfont, fontManager

    usual = FontProperties()
    unknown = {letter for text in texts for letter in text if letter.isprintable()} - _letters(findfont(usual))
    families = list(usual.get_family())
    for font in fontManager.ttflist if unknown else ():
        # Other faces than the regular one would be looked for in vain, with a line in the log.
        if (font.style, font.weight) == ("normal", 400) and not font.name.startswith(_LAST_RESORT):
            found = unknown & _letters(font.fname)
            if found:
                families.append(font.name)
                unknown -= found
    return Lettering(families=tuple(families), unknown=frozenset(unknown))


def _letters(path: str) -> set[str]:
    from matplotlib.font_manager import get_font

    try:
        font = get_font(path)
        # Colour fonts are pictures of one size, which matplotlib does not draw.
        return {chr(code) for code in font.get_charmap()} if font.scalable else set()
    except (OSError, RuntimeError):
        return set()


def drawable(values: FloatArray) -> FloatArray:
    """Return the values with nan, which is simply not drawn, for what overflows while drawing."""
    return np.where(np.abs(values) < _TOO_LARGE, values, np.nan)


def drawable_on_log(values: FloatArray) -> NDArray[np.bool_]:
    """Return which values can be drawn on a logarithmic axis."""
    return (values > 1 / _TOO_LARGE) & (values < _TOO_LARGE)


def with_noise(estimate: float, half_width: float) -> str:
    """Return "41.07 ± 0.06": two digits of the noise, and no digit of the estimate beyond them."""
    if not (math.isfinite(estimate) and math.isfinite(half_width) and half_width > 0):
        shown = f"{estimate:.4g} ± {half_width:.2g}"
    else:
        last = math.floor(math.log10(half_width)) - 1
        if last >= -5 and max(abs(estimate), half_width) < 1e9:
            # Digits before the point are all shown, though noise may hide the last of them.
            digits = max(0, -last)
            shown = f"{estimate:z,.{digits}f} ± {half_width:,.{digits}f}"
        else:
            first = math.floor(math.log10(abs(estimate))) if estimate else last
            shown = f"{estimate:.{min(max(1, first - last + 1), 15)}g} ± {half_width:.2g}"
    return shown.replace("-", "−")


def plain_number(value: float) -> str:
    """Return three digits as people write them: 0.0025, 1,430, 10⁶, 2.5·10⁻⁷."""
    rounded = float(f"{value:.3g}")
    if 1000 <= abs(rounded) < 1e6:
        return f"{rounded:,.0f}".replace("-", "−")
    digits, _, power = f"{rounded:g}".partition("e")
    if not power:
        return digits.replace("-", "−")
    raised = f"10{str(int(power)).translate(_RAISED)}"
    return raised if digits == "1" else f"{digits.replace('-', '−')}·{raised}"


def number_log_axis(axis: "Axis", values: FloatArray) -> None:
    """Put plain numbers on a logarithmic axis: the shorter it is, the more of them between powers of ten."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    decades = float(np.log10(values.max() / values.min()))
    steps: Sequence[float] = (1.0,) if decades > 2 else (1.0, 2.0, 5.0) if decades > 0.8 else (1, 1.5, 2, 3, 4, 5, 7)
    low, high = axis.get_view_interval()
    short = 0 < low < high < _SHORT * low
    axis.set_major_locator(MaxNLocator(4) if short else LogLocator(subs=steps, numticks=_MOST_LOG_TICKS))
    axis.set_major_formatter(lambda value, _: plain_number(value))
    axis.set_minor_formatter(NullFormatter())
