"""A private mean of two columns, with NumPy only.  Run: python examples/quickstart.py."""

import numpy as np

import plandp

rng = np.random.default_rng(0)
table = rng.normal(loc=[170.0, 70.0], scale=[10.0, 12.0], size=(10_000, 2))  # 10,000 invented people

release = plandp.mean(table, bounds=[(50, 250), (0, 300)], rho=0.1)

interval = release.interval(0.95)
for column, name in enumerate(("height in cm", "weight in kg")):
    low, high = interval.low[column], interval.high[column]
    print(f"{name}: {release.estimate[column]:.2f}, 95% noise interval {low:.2f} to {high:.2f}")
print(release.receipt)
