"""Baskets in a sparse matrix: the most popular products, sums over categories, and what refining is worth.

Run: python examples/baskets_scipy.py.  The people are invented, which is the only reason why true means are shown.
"""

import numpy as np
import scipy.sparse

import plandp

rng = np.random.default_rng(11)
people, products = 30_000, 8_000  # both public: customers with an account, and the catalogue

# Who bought what, one entry per purchase.  Some people buy much, and a few products are bought by many.
buyer = np.repeat(np.arange(people), rng.negative_binomial(2, 0.2, people))
weight = 1.0 / np.arange(5, products + 5)
product = rng.choice(products, len(buyer), p=weight / weight.sum())
bought = scipy.sparse.coo_array((np.ones(len(buyer)), (buyer, product)), shape=(people, products))

# The share of people who bought each product: whoever bought it twice counts once.  All of a person is protected.
share = plandp.mean(bought, kind="binary", error_norm=1, rho=0.25)
share_true = (bought.tocsr() != 0).mean(axis=0)

# The expected error is that of the noise.  Clipping people who buy much can take more from popular products.
print("the most popular products, share of people who bought them")
for label, estimate, expected_error in share.first_rows(5):
    print(f"  product {label}: {estimate:.4f}, expected error {expected_error:.4f}, in truth {share_true[label]:.4f}")

# Shrinking makes the sum of all errors small: it moves means that the noise hides to where such means usually are.
error, unrefined_error = (np.abs(means - share_true).sum() for means in (share.estimate, share.unrefined))
print(f"\nsum of all {products:,} errors: {error:.2f}, expected {share.forecast.error:.2f}")
print(f"without refining: {unrefined_error:.2f}; all shares together are {share_true.sum():.2f}")

# How many pieces.  Nobody buys more than 100 of a product: public knowledge, and generous is fine.
pieces = plandp.mean(bought, kind="nonnegative", bounds=(0, 100), error_norm=1, rho=0.25)
pieces_true = bought.sum(axis=0) / people

# Sums over categories: add up the unrefined means, whose noise averages out.  What was shrunk would add up its bias.
category = np.repeat(np.arange(8), products // 8)
print("\npieces per person by category: released, in truth")
category_released = np.bincount(category, pieces.unrefined)
category_true = np.bincount(category, pieces_true)
for number, (released, truth) in enumerate(zip(category_released, category_true, strict=True)):
    print(f"  category {number}: {released:.3f}, {truth:.3f}")

spent = share.receipt.rho + pieces.receipt.rho
print(f"\nrho spent: {float(spent)}, on {share.receipt.n:,} rows, one per person")
