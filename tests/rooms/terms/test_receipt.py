"""The receipt: exact sums, exact round trips, and a text that hides nothing."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from plandp.errors import ArgumentError
from plandp.terms.payment import EXPONENTIAL, Payment
from plandp.terms.receipt import Receipt, Step
from plandp.terms.zcdp import epsilon_of


def test_steps_add_up_in_the_order_of_first_payment(receipt_of):
    receipt = receipt_of(d=3)
    assert receipt.steps() == (
        Step(step="center", rho=Fraction(1, 10), squared_sensitivity=7, queries=2, values=6),
        Step(step="spread bound", rho=Fraction(1, 100), squared_sensitivity=1, queries=1, values=1),
        Step(step="spread", rho=Fraction(1, 25), squared_sensitivity=2**41, queries=1, values=3),
        Step(step="radius", rho=Fraction(1, 40), squared_sensitivity=1, queries=1, values=1),
        Step(step="sum", rho=Fraction(13, 40), squared_sensitivity=2**74, queries=1, values=3),
    )
    assert sum(step.rho for step in receipt.steps()) == receipt.rho
    assert math.fsum(map(receipt.share, receipt.steps())) == pytest.approx(1)


@pytest.mark.parametrize("drift", [Fraction(1, 10**30), -Fraction(1, 10**30)])
def test_a_total_that_is_not_the_exact_sum_is_refused(receipt_of, drift):
    with pytest.raises(ArgumentError) as refusal:
        receipt_of(rho=Fraction(1, 2) + drift)
    assert refusal.value.argument == "rho"


def test_bounds_must_come_one_pair_per_column(receipt_of):
    with pytest.raises(ArgumentError) as refusal:
        receipt_of(d=3, bounds=((0.0, 1.0),))
    assert refusal.value.argument == "bounds"


def test_epsilon_is_that_of_the_whole_release(receipt_of):
    assert receipt_of().epsilon(1e-9) == epsilon_of(Fraction(1, 2), 1e-9)
    with pytest.raises(ArgumentError):
        receipt_of().epsilon(0.0)


def test_nothing_paid_is_a_receipt_too(receipt_of):
    receipt = receipt_of(rho=Fraction(0), payments=())
    assert receipt.steps() == ()
    assert receipt.epsilon(1e-6) == 0
    assert "rho = 0 (zCDP)" in repr(receipt)


def test_the_dictionary_survives_json_and_restores_an_equal_receipt(receipt_of):
    receipt = receipt_of(d=2, bounds=((-0.1, 5e-324), (1e300, 1.7976931348623157e308)), insecure=True)
    restored = Receipt.from_dict(json.loads(json.dumps(receipt.to_dict())))
    assert restored == receipt
    assert hash(restored) == hash(receipt)
    assert restored.payments[-1].squared_sensitivity == 2**74


def test_numpy_scalars_become_plain_numbers(receipt_of):
    receipt = receipt_of(d=1, n=np.int64(7), passes=np.int32(2), bounds=((np.float32(0), np.int64(3)),))
    assert type(receipt.n) is int
    assert type(receipt.passes) is int
    assert receipt.bounds == ((0.0, 3.0),)
    assert Receipt.from_dict(json.loads(json.dumps(receipt.to_dict()))) == receipt


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rho", "1/0"),
        ("rho", "0.5"),
        ("rho", 0.5),
        ("rho", "1e999999999"),
        ("rho", None),
        ("n", "7"),
        ("n", True),
        ("d", 3.0),
        ("payments", None),
        ("payments", [{}]),
        ("payments", ["center"]),
        ("bounds", [[0.0]]),
        ("bounds", 3),
        ("insecure", 0),
        ("method", None),
        ("versions", [["numpy"]]),
    ],
)
def test_what_is_not_a_receipt_is_refused(receipt_of, field, value):
    with pytest.raises(ArgumentError) as refusal:
        Receipt.from_dict(receipt_of().to_dict() | {field: value})
    assert refusal.value.argument == "receipt"
    assert refusal.value.__cause__ is None


def test_a_missing_field_is_refused(receipt_of):
    values = receipt_of().to_dict()
    for field in values:
        with pytest.raises(ArgumentError):
            Receipt.from_dict({name: value for name, value in values.items() if name != field})


def test_an_edited_payment_no_longer_adds_up(receipt_of):
    values = json.loads(json.dumps(receipt_of().to_dict()))
    values["payments"][0]["rho"] = "1/1000"
    with pytest.raises(ArgumentError) as refusal:
        Receipt.from_dict(values)
    assert refusal.value.argument == "rho"


def test_the_text_is_a_small_aligned_table(receipt_of):
    assert repr(receipt_of()).splitlines() == [
        "Receipt: rho = 0.5 (zCDP), epsilon = 5.222 at delta = 1e-06",
        "  step            rho   share  sensitivity²  queries",
        "  center          0.1   20.0%             7        2",
        "  spread bound   0.01    2.0%             1        1",
        "  spread         0.04    8.0%     2.199e+12        1",
        "  radius        0.025    5.0%             1        1",
        "  sum           0.325   65.0%     1.889e+22        1",
        "  total           0.5  100.0%                      6",
        "neighbours: replace one row; privacy unit: row",
        "n = 1234 is published exactly; d = 3",
        "method: plan; sampler: exact discrete Gaussian; times all rows were read: 2",
        "versions: plandp 0.1.0, numpy 2.0, python 3.11",
    ]
    assert str(receipt_of()) == repr(receipt_of())


def test_the_epsilon_in_the_text_is_never_below_the_true_one(receipt_of):
    for sevenths in range(1, 40):
        part = Fraction(sevenths, 7)
        payment = receipt_of().payments[0]
        receipt = receipt_of(rho=part, payments=(type(payment)(step="sum", rho=part, squared_sensitivity=1, values=1),))
        shown = float(receipt.headline().split("epsilon = ")[1].split(" ")[0])
        assert receipt.epsilon(1e-6) <= shown <= receipt.epsilon(1e-6) * 1.002


def test_epsilon_is_shown_at_the_delta_that_was_asked_for(receipt_of):
    assert receipt_of().headline().endswith("at delta = 1e-06")
    asked = receipt_of(delta=np.float64(1e-5))
    assert asked.headline().endswith("at delta = 1e-05")
    shown = float(asked.headline().split("epsilon = ")[1].split(" ")[0])
    assert asked.epsilon(1e-5) <= shown <= asked.epsilon(1e-5) * 1.002
    assert receipt_of(delta=0.12345678901).headline().endswith("at delta = 0.12345678901")  # never a smaller one


def test_a_receipt_with_a_delta_is_readable_both_ways(receipt_of):
    asked = receipt_of(delta=1e-5)
    written = json.loads(json.dumps(asked.to_dict()))
    assert Receipt.from_dict(written) == asked
    assert "delta" not in receipt_of().to_dict()  # as it was always written
    older = {name: value for name, value in written.items() if name != "delta"}
    assert Receipt.from_dict(older) == receipt_of()
    for wrong in ("1e-5", 0, 1.0, -1e-5, float("nan"), True):
        with pytest.raises(ArgumentError, match=r"^receipt: "):
            Receipt.from_dict(written | {"delta": wrong})


def test_an_insecure_receipt_says_so_and_a_secure_one_does_not(receipt_of):
    notice = "INSECURE: testing_seed was used; this release protects nobody"
    assert notice in repr(receipt_of(insecure=True)).splitlines()
    assert "INSECURE" not in repr(receipt_of())


def test_choices_are_told_from_noise_both_ways(receipt_of):
    noise = Payment(step="sum", rho=Fraction(1, 4), squared_sensitivity=4, values=1)
    choice = Payment(step="center", rho=Fraction(1, 4), squared_sensitivity=12, values=3, mechanism=EXPONENTIAL)
    receipt = receipt_of(payments=(choice, noise))
    written = json.loads(json.dumps(receipt.to_dict()))
    assert Receipt.from_dict(written) == receipt
    assert [payment.get("mechanism") for payment in written["payments"]] == ["exponential mechanism", None]
    assert "chosen by the exponential mechanism: center" in repr(receipt)
    assert "exponential" not in repr(receipt_of())
    written["payments"][0]["mechanism"] = "magic"
    with pytest.raises(ArgumentError):
        Receipt.from_dict(written)


def test_receipts_from_before_there_were_choices_are_read(receipt_of):
    written = receipt_of().to_dict()
    assert not any("mechanism" in payment for payment in written["payments"])
    assert Receipt.from_dict(written) == receipt_of()
