"""How much rho?  Ask before spending: plandp.check sees no data and costs nothing.

Run: python examples/choosing_rho.py.
"""

import numpy as np

import plandp
from plandp.terms.zcdp import epsilon_of

n, d, bounds = 5_000, 12, (0, 100)  # public: so many people, twelve questions, answers from 0 to 100
spread = 15  # a guess from an earlier survey: for the prediction here, not for the release

# Two sides pull.  Privacy: an epsilon of 1 or less is strong, one beyond 10 says little.  Use: the sampling error is
# there anyway, so noise that is well below it spoils nothing.
print(f"{'rho':>6} {'epsilon':>8} {'predicted error':>16} {'sampling error':>15}  works?")
outlooks = {}
for rho in ("0.0001", "0.001", "0.01", "0.03", "0.1", "0.5"):
    outlook = outlooks[rho] = plandp.check(n=n, d=d, bounds=bounds, rho=rho, spread=spread)
    epsilon = epsilon_of(outlook.rho, delta=1e-6)  # delta well below 1 / n
    works = "yes" if outlook.feasible else "too few rows"
    print(f"{rho:>6} {epsilon:>8.2f} {outlook.error:>16.3f} {outlook.sampling_error:>15.3f}  {works}")

# The smallest rho whose noise stays below the sampling error.
chosen = next(rho for rho, outlook in outlooks.items() if outlook.feasible and outlook.error < outlook.sampling_error)
print(f"\nchosen: rho = {chosen}; at this rho, n = {outlooks[chosen].smallest_n:,} would be the fewest rows that work")

# Only now are rows read.  rho is for everything that will ever be asked of these people: several releases add up.
rng = np.random.default_rng(5)
answers = rng.normal(np.linspace(30, 70, d), spread, (n, d)).clip(*bounds)
release = plandp.mean(answers, bounds=bounds, rho=chosen)
error = np.linalg.norm(release.estimate - answers.mean(axis=0))
print(
    f"error predicted {outlooks[chosen].error:.3f}, forecast by the release {release.forecast.error:.3f}, "
    f"in truth {error:.3f}"
)
