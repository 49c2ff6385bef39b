"""What a released mean is: the estimate, its noise, its cost and its forecast, all of it private."""

import json
import math
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plandp.errors import ArgumentError
from plandp.terms.choices import REFINEMENTS, check_kind
from plandp.terms.columns import FloatArray, Label
from plandp.terms.receipt import INSECURE_NOTICE, Receipt
from plandp.terms.shown import (
    column_name,
    hidden_columns,
    interval_covers,
    is_moved,
    refinement_line,
    shown_columns,
    uncertainty_name,
)
from plandp.terms.text_table import align, show_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

SCHEMA = "plandp/mean-release/1"
_SHOWN_COORDINATES = 10
_ARRAYS = ("estimate", "noise_std", "center", "error_scale")
_OPTIONAL_ARRAYS = ("spread", "missing", "unrefined", "error_std")


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """The ℓ_p error (in `error_scale` units) to expect from the noise, from released numbers only."""

    error: float
    error_norm: float
    noise_share: float
    covers: str = "the noise of the final sum; not clipping bias, missing values or sampling error"

    def __post_init__(self) -> None:
        for name in ("error", "error_norm", "noise_share"):
            object.__setattr__(self, name, float(getattr(self, name)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Interval:
    """Per coordinate, where the estimate without noise lies with probability `confidence`; see `covers`."""

    low: FloatArray
    high: FloatArray
    confidence: float
    simultaneous: bool
    covers: str


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanRelease:
    """A released mean; every field is public or covered by `receipt.rho`, so all of it may be published."""

    estimate: FloatArray
    labels: tuple[Label, ...]
    noise_std: FloatArray
    center: FloatArray
    spread: FloatArray | None
    radius: float
    error_norm: float
    error_scale: FloatArray
    missing: FloatArray | None  # the public value that a missing one counted as; None: `center`
    receipt: Receipt
    forecast: Forecast
    warnings: tuple[str, ...]
    kind: str = "real"
    refined: tuple[str, ...] = ()  # post-processing that made `estimate`
    unrefined: FloatArray | None = None  # the estimate that the noise intervals are about; None: `estimate`
    error_std: FloatArray | None = None  # root mean square error to expect of a refined `estimate`

    def __post_init__(self) -> None:
        d = self.receipt.d
        for name in (*_ARRAYS, *_OPTIONAL_ARRAYS):
            given = getattr(self, name)
            if given is None and name in _OPTIONAL_ARRAYS:
                continue
            values = np.array(given, dtype=np.float64)
            if values.shape != (d,):
                raise ArgumentError(name, "must hold one number per column")
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        if len(self.labels) != d:
            raise ArgumentError("labels", "must hold one label per column")
        plain = set(map(type, self.labels)) <= {str, int}  # there may be a million of them
        object.__setattr__(self, "labels", tuple(self.labels if plain else map(_read_label, self.labels)))
        check_kind(self.kind)
        object.__setattr__(self, "refined", tuple(self.refined))
        if not all(name in REFINEMENTS for name in self.refined):
            raise ArgumentError("refined", f"must name some of {', '.join(map(repr, REFINEMENTS))}")
        object.__setattr__(self, "radius", float(self.radius))
        object.__setattr__(self, "error_norm", float(self.error_norm))

    def interval(self, confidence: float = 0.95, *, simultaneous: bool = False) -> Interval:
        """Return where the estimate without noise lies at this confidence, per coordinate or all at once.

        It covers the noise only, not clipping bias, missing values or sampling error.  Of sparse kinds it is around
        `unrefined`, and as wide as `error_std` says where that exceeds the noise: clipping may have moved an item.
        """
        if isinstance(confidence, bool) or not 0 < confidence < 1:
            raise ArgumentError("confidence", "must lie strictly between 0 and 1, for example 0.95")
        half_width = self._half_width(confidence, self.receipt.d if simultaneous else 1)
        with np.errstate(all="ignore"):
            around = self.estimate if self.unrefined is None else self.unrefined
            low, high = around - half_width, around + half_width
        return Interval(
            low=_frozen(low),
            high=_frozen(high),
            confidence=float(confidence),
            simultaneous=simultaneous,
            covers=interval_covers(self),
        )

    def first_rows(self, count: int) -> list[tuple[Label, float, float]]:
        """Return label, estimate and half width of the 95% interval for the first `count` columns.

        Of sparse kinds with more columns, those with the largest estimates; of refined estimates, in place of the half
        width, `error_std`.
        """
        columns = shown_columns(self, count)
        uncertainty = self.error_std if self.error_std is not None and is_moved(self) else self._half_width(0.95, 1)
        labels = [self.labels[column] for column in columns]
        return list(zip(labels, self.estimate[columns].tolist(), uncertainty[columns].tolist(), strict=True))

    def to_pandas(self) -> "DataFrame":
        """Return one row per coordinate: estimate, noise_std and its own 95% interval (low, high).

        Of sparse kinds also error_std and unrefined: noise_std, low and high are about the latter.
        """
        from plandp.report.table import to_pandas

        return to_pandas(self)

    def plot(self, path: str | os.PathLike[str] | None = None) -> "Figure":
        """Return a picture of the estimates, of where the budget went, and of noise against spread.

        With a path that ends in .svg, .png or .pdf it is also kept there.
        """
        from plandp.report.picture import draw_release
        from plandp.report.saved import saved

        return saved(draw_release(self), path)

    def to_json(self) -> str:
        """Return the whole release as JSON; `from_json` restores every bit of it."""
        return json.dumps(
            {
                "schema": SCHEMA,
                "estimate": _write_array(self.estimate),
                "labels": list(self.labels),
                "noise_std": _write_array(self.noise_std),
                "center": _write_array(self.center),
                "spread": None if self.spread is None else _write_array(self.spread),
                "radius": _write_float(self.radius),
                "error_norm": _write_float(self.error_norm),
                "error_scale": _write_array(self.error_scale),
                "missing": None if self.missing is None else _write_array(self.missing),
                "receipt": self.receipt.to_dict(),
                "forecast": {
                    name: _write_float(value) if isinstance(value, float) else value
                    for name, value in asdict(self.forecast).items()
                },
                "warnings": list(self.warnings),
                "kind": self.kind,
                "refined": list(self.refined),
                "unrefined": None if self.unrefined is None else _write_array(self.unrefined),
                "error_std": None if self.error_std is None else _write_array(self.error_std),
            },
            allow_nan=False,
        )

    @classmethod
    def from_json(cls, text: str) -> "MeanRelease":
        """Return the release that `to_json` wrote, equal to the last bit."""
        not_a_release = "is not a release written by MeanRelease.to_json; pass that text unchanged"
        try:
            values = json.loads(text)
        except (TypeError, ValueError, RecursionError):
            raise ArgumentError("text", not_a_release) from None
        if not isinstance(values, dict):
            raise ArgumentError("text", not_a_release)
        if values.get("schema") != SCHEMA:
            raise ArgumentError(
                "text", f"must have schema {SCHEMA!r}; read it with the version of plandp that wrote it"
            )
        try:
            forecast = values["forecast"]
            return cls(
                estimate=_read_array(values["estimate"]),
                labels=tuple(values["labels"]),
                noise_std=_read_array(values["noise_std"]),
                center=_read_array(values["center"]),
                spread=None if values["spread"] is None else _read_array(values["spread"]),
                radius=float(values["radius"]),
                error_norm=float(values["error_norm"]),
                error_scale=_read_array(values["error_scale"]),
                missing=None if values["missing"] is None else _read_array(values["missing"]),
                receipt=Receipt.from_dict(values["receipt"]),
                forecast=Forecast(
                    error=float(forecast["error"]),
                    error_norm=float(forecast["error_norm"]),
                    noise_share=float(forecast["noise_share"]),
                    covers=_read_text(forecast["covers"]),
                ),
                warnings=tuple(map(_read_text, _read_list(values["warnings"]))),
                kind=values["kind"],
                refined=tuple(values["refined"]),
                unrefined=None if values["unrefined"] is None else _read_array(values["unrefined"]),
                error_std=None if values["error_std"] is None else _read_array(values["error_std"]),
            )
        except ArgumentError:
            raise
        except (KeyError, OverflowError, TypeError, ValueError):
            raise ArgumentError("text", not_a_release) from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MeanRelease):
            return NotImplemented
        return self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        receipt, forecast = self.receipt, self.forecast
        rows = [
            (show_label(label), f"{estimate:.6g}", f"{uncertainty:.3g}")
            for label, estimate, uncertainty in self.first_rows(_SHOWN_COORDINATES)
        ]
        lines = [f"MeanRelease of {receipt.d} {column_name(self)}s, n = {receipt.n}"]
        lines += align([("label", "estimate", uncertainty_name(self)), *rows])
        lines += [f"  {line}" for line in (hidden_columns(self, _SHOWN_COORDINATES),) if line]
        lines += [
            *(line for line in (refinement_line(self),) if line),
            receipt.headline(),
            f"forecast: l{forecast.error_norm:g} error {forecast.error:.4g}, "
            f"{forecast.noise_share:.1%} of rho in the final noise",
            f"  covers {forecast.covers}",
        ]
        if receipt.insecure:
            lines.append(INSECURE_NOTICE)
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)

    def _half_width(self, confidence: float, coordinates: int) -> FloatArray:
        # The largest floats overflow to infinity, without a warning that would depend on the data.
        with np.errstate(all="ignore"):
            deviation = self.noise_std if self.error_std is None else np.fmax(self.noise_std, self.error_std)
            return noise_quantile(confidence, coordinates) * deviation

    def _repr_html_(self) -> str:
        from plandp.report.html import release_page

        return release_page(self)


def noise_quantile(confidence: float, coordinates: int) -> float:
    """Return how many standard deviations hold `coordinates` independent Gaussians with this probability."""
    from scipy.special import ndtri  # here, since importing SciPy takes longer than importing plandp

    # Šidák: all are inside with probability c when each is inside with c^(1/coordinates).
    outside = -math.expm1(math.log(confidence) / coordinates)
    return -float(ndtri(outside / 2))


def _read_label(label: object) -> Label:
    if isinstance(label, str):
        return str(label)
    if isinstance(label, int | np.integer) and not isinstance(label, bool | np.timedelta64):
        return int(label)
    raise ArgumentError("labels", "must be strings or whole numbers")


def _read_text(value: object) -> str:
    if type(value) is not str:
        raise TypeError
    return value


def _read_list(values: object) -> list[Any]:
    if type(values) is not list:
        raise TypeError
    return values


def _frozen(values: FloatArray) -> FloatArray:
    values.flags.writeable = False
    return values


def _write_float(value: float) -> float | str:
    """Standard JSON has no infinity and no NaN: those become strings, which `float` reads back."""
    return value if math.isfinite(value) else repr(value)


def _write_array(values: FloatArray) -> list[float | str]:
    return [_write_float(value) for value in values.tolist()]


def _read_array(values: list[Any]) -> FloatArray:
    return np.array([float(value) for value in values], dtype=np.float64)
