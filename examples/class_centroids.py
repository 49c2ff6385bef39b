"""Centroids of embeddings, class by class, in NumPy: what it costs depends on whether the class is a secret.

Run: python examples/class_centroids.py.  One row per person: an embedding of length 1, and the class of that person.
"""

import numpy as np

import plandp

rng = np.random.default_rng(3)
n, d, names = 30_000, 16, ("walking", "running", "cycling")
classes = rng.choice(len(names), size=n, p=[0.5, 0.3, 0.2])
embeddings = rng.normal(0, 1, (len(names), d))[classes] + rng.normal(0, 0.5, (n, d))
embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
truth = np.array([embeddings[classes == k].mean(axis=0) for k in range(len(names))])
rho = 0.1


def centroids_of_public_classes() -> np.ndarray:
    """Everybody may know who is in which class; only the embeddings are secrets.

    Two neighbouring tables then differ in one embedding, and the class of that person stays.  Each person is in one of
    the three tables and no other table changes, so three releases of rho each cost every person rho, not 3 rho.  The
    sizes of the classes get published.
    """
    return np.array(
        [plandp.mean(embeddings[classes == k], bounds=(-1, 1), rho=rho).estimate for k in range(len(names))]
    )


def centroids_of_secret_classes() -> np.ndarray:
    """The class is a secret as well.

    Replacing a row can now move it from one class to another: two centroids change, and two class sizes, which the
    releases above publish exactly.  They would promise nothing about that, at any rho.  So the classes stay in one
    table of n rows: the embedding stands in the block of its class and zeros in the others, beside it who is in which
    class.  Replacing a row changes two blocks, and the one release pays for the row as a whole: rho in total.
    """
    member = np.eye(len(names))[classes]
    blocks = (member[:, :, np.newaxis] * embeddings[:, np.newaxis, :]).reshape(n, -1)
    release = plandp.mean(
        np.hstack([blocks, member]), bounds=[(-1, 1)] * blocks.shape[1] + [(0, 1)] * len(names), rho=rho
    )
    sums, shares = np.split(release.estimate, [blocks.shape[1]])
    # A ratio of released numbers costs nothing.  Small classes suffer: their noise is divided by a small share.
    return np.asarray(sums.reshape(len(names), d) / shares[:, np.newaxis])


public, secret = centroids_of_public_classes(), centroids_of_secret_classes()
print(f"distance of each private centroid to the true one, rho = {rho} for each person")
print(f"{'class':<10} {'people':>7} {'class is public':>16} {'class is secret':>16}")
for k, name in enumerate(names):
    errors = [np.linalg.norm(found[k] - truth[k]) for found in (public, secret)]
    print(f"{name:<10} {np.sum(classes == k):>7,} {errors[0]:>16.4f} {errors[1]:>16.4f}")
print(f"for comparison: the centroids are {np.linalg.norm(truth[0] - truth[1]):.2f} and more apart")
