"""Bounds: from general knowledge, rather too wide than too tight, and what either costs.

Run: python examples/choosing_bounds.py.
"""

import numpy as np

import plandp

rng = np.random.default_rng(4)
n = 10_000
commute = rng.gamma(8, 4, (n, 5))  # minutes on the five days of a week, invented people
truth = commute.mean(axis=0)

# Not like this: commute.max() is somebody's value, and a release whose bounds depend on it protects nobody.
# But like this: nobody commutes for more than a day, few for more than 10 hours, many for more than 20 minutes.
candidates = [("too tight", (0, 20)), ("sensible", (0, 600)), ("generous", (0, 1_440)), ("careless", (0, 1_000_000))]

# How much does width cost?  Before anything is spent:
outlook = plandp.check(n=n, d=5, bounds=(0, 600), spread=11, rho=0.1)
print("predicted error with bounds (0, 600):", f"{outlook.error:.3f}")
for wider in outlook.wider_bounds:
    print(f"  {wider.times:>5,.0f} times as wide: {wider.error:.3f}")

print(f"\n{'bounds':<23} {'method':<9} {'noise std':>9} {'error':>8}")
errors: dict[tuple[str, str], float] = {}
for word, bounds in candidates:
    for method in ("plan", "gaussian"):
        release = plandp.mean(commute, bounds=bounds, rho=0.1, method=method, smallest_spread=0.01)
        errors[word, method] = float(np.linalg.norm(release.estimate - truth))
        print(
            f"{word + ' ' + str(bounds):<23} {method:<9} {release.noise_std.max():>9.3f} {errors[word, method]:>8.3f}"
        )

print("""
too tight: longer commutes count as 20 minutes, and no noise interval tells of that error.
plan looks for the data inside the bounds: width costs next to nothing.
gaussian adds noise in proportion to the width: only for bounds that are known to be tight.""")
