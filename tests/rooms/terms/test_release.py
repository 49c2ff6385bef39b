"""The release: honest intervals, exact round trips, read-only arrays, nothing in it that is not private."""

import json
import math
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from plandp.errors import ArgumentError
from plandp.terms.choices import KINDS, REFINEMENTS
from plandp.terms.release import Forecast, MeanRelease, noise_quantile

FLOATS = st.floats(allow_nan=False)
LABELS = st.one_of(st.text(), st.text(alphabet=st.characters()), st.integers(-(10**30), 10**30))


@given(st.data(), st.integers(1, 6))
def test_json_restores_every_bit(release_of, data, d):
    def draw_array():
        return np.array(data.draw(st.lists(FLOATS, min_size=d, max_size=d)))

    release = release_of(
        d=d,
        estimate=draw_array(),
        noise_std=draw_array(),
        center=draw_array(),
        spread=data.draw(st.one_of(st.none(), st.just(draw_array()))),
        error_scale=draw_array(),
        labels=tuple(data.draw(st.lists(LABELS, min_size=d, max_size=d))),
        radius=data.draw(FLOATS),
        error_norm=data.draw(FLOATS),
        forecast=Forecast(
            error=data.draw(FLOATS),
            error_norm=data.draw(FLOATS),
            noise_share=data.draw(FLOATS),
            covers=data.draw(st.text()),
        ),
        warnings=tuple(data.draw(st.lists(st.text(), max_size=2))),
    )
    restored = MeanRelease.from_json(release.to_json())
    for name in ("estimate", "noise_std", "center", "error_scale"):
        # Bytes, not values: -0.0 equals 0.0 and must still come back as itself.
        assert getattr(restored, name).tobytes() == getattr(release, name).tobytes()
    assert (restored.spread is None) == (release.spread is None)
    assert release.spread is None or restored.spread.tobytes() == release.spread.tobytes()
    assert restored.labels == release.labels
    assert list(map(type, restored.labels)) == list(map(type, release.labels))
    assert math.copysign(1, restored.radius) == math.copysign(1, release.radius)
    for name in ("radius", "error_norm", "receipt", "forecast", "warnings"):
        assert getattr(restored, name) == getattr(release, name)
    assert restored == release
    assert hash(restored) == hash(release)


@pytest.mark.parametrize(
    "value", [-0.0, 5e-324, -2.2250738585072014e-308, 1.7976931348623157e308, 0.1, 1 / 3, math.inf]
)
def test_awkward_floats_survive(release_of, value):
    release = release_of(d=1, estimate=np.array([value]), radius=value)
    restored = MeanRelease.from_json(release.to_json())
    assert restored.estimate.tobytes() == np.array([value]).tobytes()
    assert np.float64(restored.radius).tobytes() == np.float64(value).tobytes()


def test_what_missing_values_counted_as_survives(release_of):
    release = release_of(missing=[0, 1.5, -2])
    assert MeanRelease.from_json(release.to_json()).missing.tolist() == [0.0, 1.5, -2.0]
    assert MeanRelease.from_json(release_of().to_json()).missing is None
    assert release != release_of()
    with pytest.raises(ArgumentError, match="missing: must hold one number per column"):
        release_of(missing=[0.0])
    with pytest.raises(ValueError, match="read-only"):
        release.missing[0] = 1


def test_the_json_is_standard_and_says_its_schema(release_of):
    def refuse(constant):
        raise AssertionError(constant)

    release = release_of(estimate=np.array([math.nan, math.inf, -math.inf]))
    values = json.loads(release.to_json(), parse_constant=refuse)
    assert values["schema"] == "plandp/mean-release/1"
    assert values["receipt"]["rho"] == "1/2"
    assert MeanRelease.from_json(release.to_json()) == release


def change(text, **changed):
    return json.dumps(json.loads(text) | changed)


@pytest.mark.parametrize("text", ["", "{", "3", "[]", "null", "{}", '{"schema": 1}', "[" * 100_000, None, 3])
def test_other_text_is_refused(text):
    with pytest.raises(ArgumentError) as refusal:
        MeanRelease.from_json(text)
    assert refusal.value.argument == "text"
    assert refusal.value.__cause__ is None


def test_an_unknown_schema_is_refused_even_if_all_else_fits(release_of):
    with pytest.raises(ArgumentError) as refusal:
        MeanRelease.from_json(change(release_of().to_json(), schema="plandp/mean-release/2"))
    assert refusal.value.argument == "text"
    assert "plandp/mean-release/1" in str(refusal.value)


@pytest.mark.parametrize(
    "changed",
    [
        {"estimate": None},
        {"estimate": [[1.0], [2.0], [3.0]]},
        {"estimate": ["a", "b", "c"]},
        {"radius": None},
        {"labels": 3},
        {"forecast": []},
        {"forecast": {}},
        {"warnings": None},
    ],
)
def test_an_edited_release_is_refused(release_of, changed):
    with pytest.raises(ArgumentError) as refusal:
        MeanRelease.from_json(change(release_of().to_json(), **changed))
    assert refusal.value.argument == "text"


def test_a_missing_field_is_refused(release_of):
    values = json.loads(release_of().to_json())
    for field in values:
        with pytest.raises(ArgumentError):
            MeanRelease.from_json(json.dumps({name: value for name, value in values.items() if name != field}))


def test_releases_are_equal_when_their_json_is(release_of):
    assert release_of() == release_of()
    assert hash(release_of()) == hash(release_of())
    assert release_of() != release_of(radius=2.5000000000000004)
    assert release_of(d=1, estimate=np.array([0.0])) != release_of(d=1, estimate=np.array([-0.0]))
    assert release_of(labels=("1", "2", "3")) != release_of(labels=(1, 2, 3))
    assert release_of() != release_of().to_json()


def test_arrays_are_read_only_copies(release_of):
    mine = np.array([1.0, 2.0, 3.0])
    release = release_of(estimate=mine, noise_std=np.array([1, 2, 3]), spread=mine[::-1])
    mine[:] = 7
    assert release.estimate.tolist() == [1, 2, 3]
    assert release.spread.tolist() == [3, 2, 1]
    assert mine.flags.writeable
    interval = release.interval()
    for array in (
        release.estimate,
        release.noise_std,
        release.center,
        release.spread,
        release.error_scale,
        interval.low,
        interval.high,
    ):
        assert array.dtype == np.float64
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(FrozenInstanceError):
        release.estimate = mine


@pytest.mark.parametrize("name", ["estimate", "noise_std", "center", "spread", "error_scale", "labels"])
def test_every_array_has_one_entry_per_column(release_of, name):
    for wrong in ((1.0, 2.0), (1.0, 2.0, 3.0, 4.0)):
        with pytest.raises(ArgumentError) as refusal:
            release_of(**{name: wrong})
        assert refusal.value.argument == name


def test_whole_numbers_and_numpy_scalars_become_floats(release_of):
    forecast = Forecast(error=np.float32(0.5), error_norm=2, noise_share=np.float64(1))
    release = release_of(forecast=forecast, radius=np.int64(3), error_norm=1)
    assert MeanRelease.from_json(release.to_json()) == release
    assert {type(value) for value in (release.radius, release.error_norm, forecast.error, forecast.error_norm)} == {
        float
    }


def test_labels_are_strings_or_whole_numbers(release_of):
    assert release_of(labels=["a", "b", 4]).labels == ("a", "b", 4)
    release = release_of(labels=(np.str_("a"), np.int64(3), 4))
    assert release.labels == ("a", 3, 4)
    assert list(map(type, release.labels)) == [str, int, int]
    for wrong in (True, 1.5, None, ("a", "b")):
        with pytest.raises(ArgumentError) as refusal:
            release_of(labels=("a", "b", wrong))
        assert refusal.value.argument == "labels"


def test_the_fields_are_these_and_no_other():
    """A new field is a decision about privacy: this list makes someone take it."""
    assert [field.name for field in fields(MeanRelease)] == [
        "estimate",
        "labels",
        "noise_std",
        "center",
        "spread",
        "radius",
        "error_norm",
        "error_scale",
        "missing",
        "receipt",
        "forecast",
        "warnings",
        "kind",
        "refined",
        "unrefined",
        "error_std",
    ]


# ---- refined releases


@given(st.data(), st.integers(1, 4))
def test_json_restores_every_bit_of_what_refinement_left(release_of, data, d):
    def draw_array():
        return np.array(data.draw(st.lists(st.floats(allow_nan=False), min_size=d, max_size=d)))

    release = release_of(
        d=d,
        kind=data.draw(st.sampled_from(KINDS)),
        refined=tuple(data.draw(st.permutations(REFINEMENTS)))[: data.draw(st.integers(0, 3))],
        unrefined=data.draw(st.one_of(st.none(), st.just(draw_array()))),
        error_std=data.draw(st.one_of(st.none(), st.just(draw_array()))),
    )
    restored = MeanRelease.from_json(release.to_json())
    assert (restored.kind, restored.refined) == (release.kind, release.refined)
    for name in ("unrefined", "error_std"):
        before, after = getattr(release, name), getattr(restored, name)
        assert (before is None) == (after is None)
        assert before is None or before.tobytes() == after.tobytes()
    assert restored == release
    assert hash(restored) == hash(release)


def test_what_refinement_left_makes_releases_differ(refined_of):
    same = refined_of()
    assert refined_of() == same
    for changed in (
        {"kind": "nonnegative"},
        {"refined": ("shrink", "clamp")},
        {"refined": ()},
        {"unrefined": None},
        {"unrefined": same.unrefined + 1e-12},
        {"error_std": None},
        {"error_std": same.error_std + 1e-12},
    ):
        assert refined_of(**changed) != same


def test_arrays_of_refined_releases_are_read_only_copies(refined_of):
    mine = np.array([1.0, 2.0, 3.0])
    release = refined_of(unrefined=mine, error_std=mine)
    mine[:] = 7
    for name in ("unrefined", "error_std"):
        assert getattr(release, name).tolist() == [1, 2, 3]
        with pytest.raises(ValueError, match="read-only"):
            getattr(release, name)[0] = 0
        with pytest.raises(FrozenInstanceError):
            setattr(release, name, mine)
        with pytest.raises(ArgumentError, match=f"{name}: must hold one number per column"):
            refined_of(**{name: [1.0]})


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": None},
        {"kind": "other"},
        {"kind": ["real"]},
        {"refined": 3},
        {"refined": ["other"]},
        {"refined": [["shrink"]]},
        {"unrefined": [1.0]},
        {"error_std": "abc"},
    ],
)
def test_an_edited_refined_release_is_refused(refined_of, changed):
    with pytest.raises(ArgumentError):
        MeanRelease.from_json(change(refined_of().to_json(), **changed))


@pytest.mark.parametrize("simultaneous", [True, False])
def test_the_interval_is_around_the_unrefined_estimate(refined_of, release_of, simultaneous):
    release = refined_of(error_std=np.array([0.1, 0.3, 0.5]), noise_std=np.array([0.2, 0.2, 0.2]))
    interval = release.interval(0.9, simultaneous=simultaneous)
    # an item whose error exceeds its noise was moved by clipping: its interval is as wide as that
    plain = release_of(estimate=release.unrefined, noise_std=np.array([0.2, 0.3, 0.5]))
    np.testing.assert_array_equal(interval.low, plain.interval(0.9, simultaneous=simultaneous).low)
    np.testing.assert_array_equal(interval.high, plain.interval(0.9, simultaneous=simultaneous).high)
    assert np.max(abs((interval.low + interval.high) / 2 - release.estimate)) > 0.1
    assert interval.covers == "the noise, and clipping as far as released sums tell; not sampling error"


def test_the_text_of_a_refined_release_shows_the_error_to_expect(refined_of):
    release = refined_of(
        estimate=np.array([0.25, 0.0, 1e-9]), error_std=np.array([0.01, 0.002, 1e-10]), noise_std=np.full(3, 0.5)
    )
    assert repr(release).splitlines()[:6] == [
        "MeanRelease of 3 items, n = 1234",
        "  label  estimate  expected error",
        "  c0         0.25            0.01",
        "  c1            0           0.002",
        "  c2        1e-09           1e-10",
        "refined by combine, shrink, clamp: expected errors are root mean squares, clipping bias roughly included; "
        "noise_std and intervals are about `unrefined`",
    ]


@pytest.mark.parametrize("refined", [(), ("combine",)])
def test_what_was_not_moved_has_its_noise_interval(refined_of, refined):
    text = repr(refined_of(refined=refined, noise_std=np.full(3, 0.5)))
    assert "± 95%\n" in text
    assert "0.98" in text
    assert "refined" not in text


@pytest.mark.parametrize("refined", [("shrink",), ("clamp",), ("combine", "clamp")])
def test_what_was_moved_has_not(refined_of, refined):
    text = repr(refined_of(refined=refined))
    assert "± 95%" not in text
    assert f"refined by {', '.join(refined)}: expected errors" in text


def test_of_many_items_the_largest_are_shown(refined_of):
    estimate = np.zeros(5000)
    estimate[[4000, 17, 3, 999]] = [0.5, 0.4, 0.4, 0.3]
    release = refined_of(d=5000, estimate=estimate)
    # Of equal estimates the first come first: the same release is always shown alike.
    assert [label for label, _, _ in release.first_rows(6)] == ["c4000", "c3", "c17", "c999", "c0", "c1"]
    assert [error for _, _, error in release.first_rows(3)] == release.error_std[[4000, 3, 17]].tolist()
    assert "  … and 4990 more, none larger" in repr(release).splitlines()
    assert len(repr(release).splitlines()) == 17


def test_few_items_keep_their_order(refined_of):
    assert [label for label, _, _ in refined_of(d=10).first_rows(10)] == [f"c{place}" for place in range(10)]


def test_columns_of_real_numbers_keep_their_order(release_of):
    assert [label for label, _, _ in release_of(d=50).first_rows(4)] == ["c0", "c1", "c2", "c3"]


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999999])
def test_the_interval_of_a_coordinate_is_the_gaussian_one(release_of, confidence):
    release = release_of()
    interval = release.interval(confidence)
    low, high = norm.interval(confidence, loc=release.estimate, scale=release.noise_std)
    np.testing.assert_allclose(interval.low, low, rtol=1e-10)
    np.testing.assert_allclose(interval.high, high, rtol=1e-10)
    assert (interval.confidence, interval.simultaneous) == (confidence, False)
    assert interval.covers == "the noise only; not clipping bias, missing values or sampling error"


@pytest.mark.parametrize("d", [1, 2, 50])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_the_simultaneous_interval_holds_all_noises_at_once(release_of, d, confidence):
    release = release_of(d=d)
    interval = release.interval(confidence, simultaneous=True)
    inside = norm.cdf((interval.high - release.estimate) / release.noise_std) - norm.cdf(
        (interval.low - release.estimate) / release.noise_std
    )
    assert math.prod(inside) == pytest.approx(confidence, rel=1e-9)
    assert interval.simultaneous


def test_the_quantile_for_a_million_columns_keeps_its_digits():
    # 1 - 0.95^(1/d) computed as written has lost half of its digits; this series in 1/d has not.
    d = 10**6
    first = -math.log(0.95) / d
    assert noise_quantile(0.95, d) == pytest.approx(norm.isf((first - first**2 / 2) / 2), rel=1e-13)


def test_intervals_cover_drawn_noise_as_often_as_they_say(release_of):
    # 4000 draws: the share of a true 90% strays by .02 with probability 2.5e-5; taking the one-sided
    # quantile by mistake covers 80%, dropping Šidák on 20 columns 12%.
    generator = np.random.default_rng(7)
    release = release_of(d=20)
    noise = generator.normal(size=(4000, 20)) * release.noise_std
    one = release.interval(0.9)
    every = release.interval(0.9, simultaneous=True)
    without_noise = release.estimate - noise
    alone = np.mean((one.low[0] <= without_noise[:, 0]) & (without_noise[:, 0] <= one.high[0]))
    together = np.mean(np.all((every.low <= without_noise) & (without_noise <= every.high), axis=1))
    assert alone == pytest.approx(0.9, abs=0.02)
    assert together == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("confidence", [0, 1, 0.0, 1.0, -0.5, 95, math.nan, math.inf, True])
def test_confidence_must_lie_between_zero_and_one(release_of, confidence):
    with pytest.raises(ArgumentError) as refusal:
        release_of().interval(confidence)
    assert refusal.value.argument == "confidence"


def test_an_interval_past_the_largest_float_is_infinite_and_silent(release_of):
    release = release_of(d=1, estimate=np.array([1.7e308]), noise_std=np.array([1e308]))
    assert release.interval().high[0] == math.inf
    assert "inf" in repr(release_of(d=1, estimate=np.array([math.inf]), noise_std=np.array([1.7e308])))


def test_the_text_shows_estimates_cost_forecast_and_warnings(release_of):
    release = release_of(
        estimate=np.array([1.5, -20.25, 1e-9]),
        noise_std=np.array([1.0, 0.5, 1e-3]),
        labels=("age", 7, "line\nbreak"),
        warnings=("the centre of column 7 may be lost",),
    )
    assert repr(release).splitlines() == [
        "MeanRelease of 3 columns, n = 1234",
        "  label          estimate  ± 95% noise",
        "  age                 1.5         1.96",
        "  7                -20.25         0.98",
        "  'line\\nbreak'     1e-09      0.00196",
        "rho = 0.5 (zCDP), epsilon = 5.222 at delta = 1e-06",
        "forecast: l2 error 0.3, 65.0% of rho in the final noise",
        "  covers the noise of the final sum; not clipping bias, missing values or sampling error",
        "warning: the centre of column 7 may be lost",
    ]


def test_the_text_of_a_wide_release_is_short(release_of):
    text = repr(release_of(d=5000, labels=("x" * 500, *range(4999))))
    assert "… and 4990 more" in text
    assert len(text.splitlines()) == 16
    assert max(map(len, text.splitlines())) < 100


def test_an_insecure_release_says_so(release_of, receipt_of):
    assert "INSECURE" in repr(release_of(receipt=receipt_of(insecure=True)))
    assert "INSECURE" not in repr(release_of())
