"""Each warning that a release can carry, provoked, and what helps.

Run: python examples/what_warnings_mean.py.  Warnings are made from released and public numbers, so they cost nothing.
They are texts in release.warnings, never Python warnings, and the release is as private with them as without.
"""

import numpy as np

import plandp

rng = np.random.default_rng(7)
people = rng.normal(50, 5, (4_000, 10))
wealth = rng.lognormal(3, 2.5, (4_000, 10))  # a few own nearly everything

cases = {
    "healthy": plandp.mean(people, bounds=(0, 100), rho=0.5),
    # 40 rows and little rho: the noise of a count is larger than the count.  Known before any row is read.
    "far too few rows": plandp.mean(people[:40], bounds=(0, 100), rho=0.001),
    # With more rows it comes back in steps: first the centres are found, then the spreads.
    "too few rows": plandp.mean(people[:1_000], bounds=(0, 100), rho=0.02),
    # A publicly known spread is not searched for.  The search for the centres is still dear.
    "few rows, known spread": plandp.mean(people[:500], bounds=(0, 100), rho=0.02, spread=5),
    # Rows far beyond the others get clipped, which pulls the mean down; the interval does not show it.
    "heavy tails": plandp.mean(wealth, bounds=(0, 1e6), rho=0.5),
    # The mean of the logarithm has no such tail: whatever is done row by row is fine.  It is another mean, though.
    "heavy tails, logarithm": plandp.mean(np.log10(1 + wealth), bounds=(0, 6), rho=0.5),
    # A spread that is said to be public, and is a thousand times too small: it costs accuracy, never privacy.
    "wrong public spread": plandp.mean(people, bounds=(0, 100), rho=0.5, spread=0.005),
}
for name, release in cases.items():
    print(f"{name}: n = {release.receipt.n}, forecast error {release.forecast.error:.3g}")
    for warning in release.warnings:
        print(f"    {warning}")

off = np.abs(cases["heavy tails"].estimate - wealth.mean(axis=0)) / cases["heavy tails"].noise_std
print(f"\nheavy tails: the estimates are off by up to {off.max():.0f} times the standard deviation of their noise")
print("docs/guide.md says for every warning what to do.")
