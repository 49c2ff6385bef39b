"""What is recommended, and why."""

from plandp.planner.recommendation import in_order, recommend
from plandp.terms.comparison import Contender


def contender(method, error, *, feasible=True, measured=(), premise=None):
    return Contender(method=method, predicted_error=error, feasible=feasible, measured_errors=measured, premise=premise)


def test_the_lowest_error_wins():
    found = [contender("plan", 2.0), contender("unscaled", 1.0), contender("gaussian", 5.0)]
    assert recommend(found) == (
        "unscaled",
        "take unscaled: it has the lowest predicted error; the next, plan, has 2 times as much",
    )


def test_the_default_wins_where_it_is_as_good():
    method, reason = recommend([contender("iome", 1.0), contender("plan", 1.09)])
    assert method == "plan"
    assert (
        reason == "take plan: it is the default, and its predicted error is not clearly above the lowest, that of iome"
    )
    assert recommend([contender("iome", 1.0), contender("plan", 1.11)])[0] == "iome"


def test_what_is_in_doubt_is_not_recommended():
    found = [contender("plan", 1.0, feasible=False), contender("gaussian", 9.0)]
    assert recommend(found) == ("gaussian", "take gaussian: the other 1 would be in doubt with so few rows at this rho")
    method, reason = recommend(found[:1])
    assert method == "plan"
    assert "all are in doubt" in reason
    assert [entry.method for entry in in_order(found, "gaussian")] == ["gaussian", "plan"]


def test_a_lower_error_in_doubt_is_not_passed_over_in_silence():
    found = [contender("plan", 1.0, feasible=False), contender("coinpress", 2.0), contender("gaussian", 8.0)]
    reason = "it has the lowest predicted error of those not in doubt; the next, gaussian, has 4 times as much"
    assert recommend(found) == ("coinpress", f"take coinpress: {reason}")


def test_measured_errors_count_before_predicted_ones():
    found = [
        contender("plan", 1.0, measured=(4.0, 4.1, 4.2)),
        contender("opendp", None, measured=(1.0, 1.1, 1.2)),
    ]
    method, reason = recommend(found)
    assert method == "opendp"
    assert reason == "take opendp: it has the lowest measured error; the next, plan, has 3.73 times as much"


def test_the_medians_of_a_few_runs_are_not_taken_for_more_than_they_are():
    shaky = [
        contender("plan", 1.0, measured=(0.6, 1.0, 1.3, 1.9, 2.2)),
        contender("mahalanobis", 1.1, measured=(0.5, 0.8, 1.0, 1.4, 2.0)),
    ]
    assert recommend(shaky)[0] == "plan"
    clear = [
        contender("plan", 1.0, measured=(1.28, 1.29, 1.3, 1.31, 1.32)),
        contender("mahalanobis", 1.1, measured=(0.98, 0.99, 1.0, 1.01, 1.02)),
    ]
    assert recommend(clear)[0] == "mahalanobis"


def test_a_premise_is_part_of_the_reason():
    found = [contender("coinpress", 1.0, premise="takes spreads for true"), contender("gaussian", 3.0)]
    assert recommend(found)[1].endswith("; but it takes spreads for true")
