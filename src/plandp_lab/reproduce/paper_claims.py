"""What the paper says about its figures, claim by claim."""

from dataclasses import replace
from math import inf

from plandp_lab.reproduce.claims import Between, Claim, Crossing, Grows, Judge
from plandp_lab.reproduce.entrants import EMPIRICAL_MEAN
from plandp_lab.reproduce.panels import Panel

RESULTS_GAUSSIAN, RESULTS_BINARY = '"Results", Gaussian data', '"Results", binary data'
CORRELATED, NO_SCALING = "appendix on correlated data", "appendix on no scaling"
LAST = "the last appendix"
IOME = "iome as published"  # whom the paper means, and who loses the fewest medians: what holds against it holds
COMPARABLE = (0.8, 1.25)  # times: what "comparable" and "similar" are taken to mean
SLIGHTLY = 0.8  # times and more, below 1: "slightly better"
FAR_BELOW = 0.5  # times and less
BINARY_OURS = ("plan", "plan, not shrunk", "plan-classic")


def _comparable(other: str = IOME, *, high: float = inf) -> Between:
    least, most = COMPARABLE
    return Between(other=other, least=least, most=most, high=high)


def slightly_better(other: str) -> Between:
    """Better, and not by much."""
    return Between(other=other, least=SLIGHTLY, most=1.0)


def _claims(place: str, *said: tuple[int, str, Judge]) -> tuple[Claim, ...]:
    """Sentences of one place in the paper, each about a panel."""
    return tuple(Claim(sentence=sentence, place=place, panel=panel, judge=judge) for panel, sentence, judge in said)


def _about_items(place: str, *said: tuple[int, str, Judge]) -> tuple[Claim, ...]:
    return tuple(replace(claim, entrants=BINARY_OURS) for claim in _claims(place, *said))


AT_HONEST_RHO = Claim(
    sentence="(ours, not the paper's) noise error at the stated ρ no larger than that of the authors' code, which "
    "spends 3.75 ρ",
    place="authors' code rerun",
    panel=0,
    judge=Between(other="their PLAN", most=1.0),
    measure=EMPIRICAL_MEAN,
)
_NO_LATER = "Gaussian B: the α from which on PLAN is below IOME is no larger than published"
_APPROACHES = Grows(other="sampling error", advantage=False, rhos=("1", "0.5"))
GAUSSIAN_CLAIMS = (
    *_claims(
        RESULTS_GAUSSIAN,
        (0, "Gaussian A: PLAN and IOME have comparable accuracy", _comparable()),
        (1, "Gaussian B: PLAN below IOME for α > 1", Between(other=IOME, most=1.0, low=1.01)),
    ),
    *_claims("published files", (1, _NO_LATER, Crossing(other=IOME))),
    *_claims(
        RESULTS_GAUSSIAN,
        (1, "Gaussian B: for α ≤ 1 the errors are similar", _comparable(high=1.0)),
        (1, "Gaussian B: PLAN approaches the empirical mean as α grows, for ρ = 1 and 0.5", _APPROACHES),
        (2, "Gaussian C: PLAN's advantage over IOME grows with d", Grows(other=IOME)),
    ),
    *(
        replace(AT_HONEST_RHO, panel=panel, sentence=f"Gaussian {letter}: {AT_HONEST_RHO.sentence}")
        for panel, letter in enumerate("ABC")
    ),
)
SMALL_RHO_CLAIMS = _claims(
    RESULTS_GAUSSIAN,
    (0, "Gaussian A at ρ = 0.01: the same behaviour, comparable accuracy", _comparable("iome")),
    (1, "Gaussian B at ρ = 0.01: PLAN below IOME for α > 1", Between(other="iome", most=1.0, low=1.01)),
    (2, "Gaussian C at ρ = 0.01: PLAN has a lower error than IOME", Between(other="iome", most=1.0)),
)
CORRELATED_CLAIMS = _claims(
    CORRELATED,
    (0, "A′: PLAN and IOME have similar errors", _comparable()),
    (1, "C′: for d ≥ 256 PLAN's error is far below IOME's", Between(other=IOME, most=FAR_BELOW, low=256)),
    (1, "C′: PLAN's advantage over IOME grows with d", Grows(other=IOME)),
    (
        1,
        "(ours, not the paper's) C′ at d = 1024: no larger than 3.41, 4.76, 9.40 in the paper's text",
        Between(other="their PLAN", most=1.0),
    ),
)
NO_SCALING_CLAIMS = (
    *(
        replace(claim, entrants=("unscaled", "plan-classic, no scaling"))
        for panel, letter in enumerate("ABC")
        for claim in _claims(
            NO_SCALING,
            (
                panel,
                f"Gaussian {letter}: PLAN without scaling behaves as IOME and is slightly better",
                slightly_better(IOME),
            ),
        )
    ),
    Claim(
        sentence="Gaussian A: without skew, no scaling is better than PLAN",
        place=NO_SCALING,
        panel=0,
        judge=Between(other="plan-classic, no scaling", least=1.0),
        entrants=("plan-classic",),
        measure=EMPIRICAL_MEAN,
    ),
    *_claims(
        NO_SCALING,
        (
            2,
            "Gaussian C: as soon as there is skew, scaling is better",
            Between(other="plan-classic, no scaling", most=1.0),
        ),
    ),
)
LARGEST_CLAIMS = _claims(
    LAST,
    (0, "Gaussian A: PLAN comparable with IOME below d = 2048", _comparable(high=2047)),
    (
        0,
        "Gaussian A: at d = 2048 and ρ = 0.125, PLAN is worse than IOME",
        Between(other=IOME, least=1.0, low=2048, rhos=("0.125",)),
    ),
    (2, "Gaussian C: PLAN stays below IOME", Between(other=IOME, most=1.0)),
)
_RERUN = "authors' code rerun, published files"
_NO_LARGER = "(ours, not the paper's) no larger than the error of the authors' code on the same rows"
_NO_LARGER_THAN_THEIRS = Between(other="their PLAN", most=1.0)
SET_CLAIMS = {
    "kosarak": (
        *_about_items(
            RESULTS_BINARY, (0, "Kosarak: PLAN below IOME for ρ > 0.125", Between(other="iome", most=1.0, low=0.126))
        ),
        *_about_items(_RERUN, (0, f"Kosarak: {_NO_LARGER}", _NO_LARGER_THAN_THEIRS)),
    ),
    "POS": (
        *_about_items(RESULTS_BINARY, (0, "POS: PLAN slightly better than IOME", slightly_better("iome"))),
        *_about_items(_RERUN, (0, f"POS: {_NO_LARGER}", _NO_LARGER_THAN_THEIRS)),
    ),
}


def synthetic_claims(panel: int, d: int) -> tuple[Claim, ...]:
    """About synthetic 0/1 data of d columns in this panel."""
    published = f"Binary, d = {d}: (ours, not the paper's) at most 1.05 times the published errors of PLAN"
    return (
        *_about_items(
            RESULTS_BINARY,
            (
                panel,
                f"Binary, d = {d}: PLAN has an advantage over IOME for α < 1",
                Between(other="iome", most=1.0, high=0.99),
            ),
            (
                panel,
                f"Binary, d = {d}: that advantage, for α < 1, increases as α decreases",
                Grows(other="iome", falls=True, high=0.99),
            ),
        ),
        *_about_items("published files", (panel, published, Between(other="their PLAN", most=1.05))),
    )


def binary_claims(d: int, sets: tuple[Panel, ...]) -> tuple[Claim, ...]:
    """About a figure with synthetic data of d columns first, then those sets that are there."""
    of_sets = tuple(
        replace(claim, panel=1 + place) for place, panel in enumerate(sets) for claim in SET_CLAIMS[panel.experiment]
    )
    return (*synthetic_claims(0, d), *of_sets)


def unscaled_binary_claims(panels: tuple[Panel, ...]) -> tuple[Claim, ...]:
    """About 0/1 data without scaling, panel by panel."""
    return tuple(
        Claim(
            sentence=f"{panel.name}: PLAN without scaling behaves as IOME and is slightly better",
            place=NO_SCALING,
            panel=place,
            judge=slightly_better("iome"),
            entrants=("plan-classic, no scaling",),
        )
        for place, panel in enumerate(panels)
    )
