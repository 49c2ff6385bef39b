"""What a receipt says, line by line, and how to keep it, convert it and add it up.

Run: python examples/reading_a_receipt.py.
"""

import numpy as np

import plandp

rng = np.random.default_rng(6)
heights = rng.normal([178, 165, 120], [7, 6, 9], (10_000, 3))  # invented
release = plandp.mean(heights, bounds=(0, 300), rho="1/10")
receipt = release.receipt

print(receipt)
print("""
rho is exact: "1/10" is one tenth, and the steps add up to it to the last bit.
  center, spread   where each column lies and how far it spreads: cheap, rough, noisy counts and sums
  radius           where to clip
  sum              the mean itself; nearly all of rho is here
  sensitivity      how far one row can move that query, squared, on its lattice of integers
neighbours: the promise is about replacing one row; it is about people only if each has one row.
n is published exactly, d and the bounds are public anyway.
""")
assert receipt.rho == sum(step.rho for step in receipt.steps())

print("The same promise as (epsilon, delta), for whichever delta you like:")
epsilons = {delta: receipt.epsilon(delta) for delta in (1e-5, 1e-6, 1e-9)}
for delta, epsilon in epsilons.items():
    print(f"  delta = {delta:g}: epsilon = {epsilon:.3f}")

# A second release of the same people adds to the first.  Add rho, then convert: adding epsilons would overstate it.
again = plandp.mean(heights, bounds=(0, 300), rho="1/10")
total = receipt.rho + again.receipt.rho
print(f"\nTwo releases of the same people: rho = {total}")
# The mean of the two is post-processing; it is worth about as much as one release of rho = 1/5.
print("their average:", np.round((release.estimate + again.estimate) / 2, 2))

# The receipt travels inside the release; keep the JSON, it is all that is needed later.
kept = plandp.MeanRelease.from_json(release.to_json())
print("kept and read again, equal to the last bit:", kept == release)
