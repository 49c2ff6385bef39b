"""What the paper says about its figures, claim by claim."""

from dataclasses import replace

from plandp_lab.reproduce.claims import Between, Claim, Crossing, Grows
from plandp_lab.reproduce.entrants import EMPIRICAL_MEAN
from plandp_lab.reproduce.panels import Panel

BINARY_OURS = ("plan", "plan, not shrunk", "plan-classic")
AT_HONEST_RHO = Claim(
    sentence="(ours, not the paper's) at honest ρ, noise error no larger than that of the authors' code at 3.75 ρ",
    place="authors' code rerun",
    panel=0,
    judge=Between(other="their PLAN", most=1.0),
    measure=EMPIRICAL_MEAN,
)
GAUSSIAN_CLAIMS = (
    Claim(
        sentence="Gaussian A: PLAN and IOME have comparable accuracy",
        place='"Results", Gaussian data',
        panel=0,
        judge=Between(other="iome", most=1.25),
    ),
    Claim(
        sentence="Gaussian B: PLAN below IOME for α > 1",
        place='"Results", Gaussian data',
        panel=1,
        judge=Between(other="iome", most=1.0, low=1.01),
    ),
    Claim(
        sentence="Gaussian B: the α from which on PLAN is below IOME is no larger than published",
        place="published files",
        panel=1,
        judge=Crossing(other="iome"),
    ),
    Claim(
        sentence="Gaussian B: for α ≤ 1 the errors are similar",
        place='"Results", Gaussian data',
        panel=1,
        judge=Between(other="iome", least=0.67, most=1.25, high=1.0),
    ),
    Claim(
        sentence="Gaussian B: PLAN approaches the empirical mean as α grows",
        place='"Results", Gaussian data',
        panel=1,
        judge=Grows(other="sampling error"),
    ),
    Claim(
        sentence="Gaussian C: PLAN's advantage over IOME grows with d",
        place='"Results", Gaussian data',
        panel=2,
        judge=Grows(other="iome"),
    ),
    *(
        replace(AT_HONEST_RHO, panel=panel, sentence=f"Gaussian {letter}: {AT_HONEST_RHO.sentence}")
        for panel, letter in enumerate("ABC")
    ),
)
SMALL_RHO_CLAIMS = (
    Claim(
        sentence="Gaussian A at ρ = 0.01: the same behaviour, comparable accuracy",
        place='"Results", Gaussian data',
        panel=0,
        judge=Between(other="iome", most=1.25),
    ),
    Claim(
        sentence="Gaussian B at ρ = 0.01: PLAN below IOME for α > 1",
        place='"Results", Gaussian data',
        panel=1,
        judge=Between(other="iome", most=1.0, low=1.01),
    ),
    Claim(
        sentence="Gaussian C at ρ = 0.01: PLAN has a lower error than IOME",
        place='"Results", Gaussian data',
        panel=2,
        judge=Between(other="iome", most=1.0),
    ),
)
CORRELATED_CLAIMS = (
    Claim(
        sentence="A′: PLAN and IOME have similar errors",
        place="appendix on correlated data",
        panel=0,
        judge=Between(other="iome", most=1.25),
    ),
    Claim(
        sentence="C′: PLAN's error is far below IOME's, the more the larger d",
        place="appendix on correlated data",
        panel=1,
        judge=Grows(other="iome"),
    ),
    Claim(
        sentence="(ours, not the paper's) C′ at d = 1024: no larger than 3.41, 4.76, 9.40 in the paper's text",
        place="appendix on correlated data",
        panel=1,
        judge=Between(other="their PLAN", most=1.0),
    ),
)
NO_SCALING_CLAIMS = (
    *(
        Claim(
            sentence=f"Gaussian {letter}: PLAN without scaling behaves as IOME and is slightly better",
            place="appendix on no scaling",
            panel=panel,
            judge=Between(other="iome", least=0.5, most=1.1),
            entrants=("unscaled", "plan-classic, no scaling"),
        )
        for panel, letter in enumerate("ABC")
    ),
    Claim(
        sentence="Gaussian A: without skew, no scaling is better than PLAN",
        place="appendix on no scaling",
        panel=0,
        judge=Between(other="plan-classic, no scaling", least=1.0),
        entrants=("plan-classic",),
        measure=EMPIRICAL_MEAN,
    ),
    Claim(
        sentence="Gaussian C: as soon as there is skew, scaling is better",
        place="appendix on no scaling",
        panel=2,
        judge=Between(other="plan-classic, no scaling", most=1.0),
    ),
)
LARGEST_CLAIMS = (
    Claim(
        sentence="Gaussian A: PLAN comparable with IOME below the largest d",
        place="the last appendix",
        panel=0,
        judge=Between(other="iome", most=1.25, high=1024),
    ),
    Claim(
        sentence="Gaussian A: at d = 2048 and the smallest ρ, PLAN is worse than IOME",
        place="the last appendix",
        panel=0,
        judge=Between(other="iome", least=1.0, low=2048, smallest_budget=True),
    ),
    Claim(
        sentence="Gaussian C: PLAN stays below IOME",
        place="the last appendix",
        panel=2,
        judge=Between(other="iome", most=1.0),
    ),
)
_SET_CLAIM = Claim(
    sentence="(ours, not the paper's) no larger than the error of the authors' code on the same rows",
    place="authors' code rerun, published files",
    panel=0,
    judge=Between(other="their PLAN", most=1.0),
    entrants=BINARY_OURS,
)
SET_CLAIMS = {
    "kosarak": (
        Claim(
            sentence="Kosarak: PLAN below IOME for ρ > 0.125",
            place='"Results", binary data',
            panel=0,
            judge=Between(other="iome", most=1.0, low=0.126),
            entrants=BINARY_OURS,
        ),
        replace(_SET_CLAIM, sentence=f"Kosarak: {_SET_CLAIM.sentence}"),
    ),
    "POS": (
        Claim(
            sentence="POS: PLAN slightly better than IOME",
            place='"Results", binary data',
            panel=0,
            judge=Between(other="iome", most=1.0),
            entrants=BINARY_OURS,
        ),
        replace(_SET_CLAIM, sentence=f"POS: {_SET_CLAIM.sentence}"),
    ),
}


def synthetic_claims(panel: int) -> tuple[Claim, ...]:
    """About synthetic 0/1 data in this panel."""
    place = '"Results", binary data'
    return (
        Claim(
            sentence="Binary: PLAN has an advantage over IOME for α < 1",
            place=place,
            panel=panel,
            judge=Between(other="iome", most=1.0, high=0.99),
            entrants=BINARY_OURS,
        ),
        Claim(
            sentence="Binary: that advantage increases as α decreases",
            place=place,
            panel=panel,
            judge=Grows(other="iome", falls=True),
            entrants=BINARY_OURS,
        ),
        Claim(
            sentence="(ours, not the paper's) at most 1.05 times the published errors of PLAN",
            place="published files",
            panel=panel,
            judge=Between(other="their PLAN", most=1.05),
            entrants=BINARY_OURS,
        ),
    )


def binary_claims(sets: tuple[Panel, ...]) -> tuple[Claim, ...]:
    """About a figure with synthetic data first, then those sets that are there."""
    of_sets = tuple(
        replace(claim, panel=1 + place) for place, panel in enumerate(sets) for claim in SET_CLAIMS[panel.experiment]
    )
    return (*synthetic_claims(0), *of_sets)
