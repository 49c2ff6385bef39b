"""The oracle for sparse rows: knows every popularity, spends all of ρ on noise.  Not private, for scale only."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from plandp_lab.item_tables import FloatArray, ItemTable

CLIPPED = (3, 10, 30, 100, 300, 1000, 3000, 10_000)  # rows above the radius; the best is the oracle's


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemOracle:
    """A table clipped at every radius tried, in stretched coordinates and back."""

    table: ItemTable
    error_norm: float
    noise_std: FloatArray  # (radii, d), at ρ = 1
    clipped: FloatArray  # (radii, d): means of the clipped rows

    @classmethod
    def of(cls, table: ItemTable, error_norm: float) -> "ItemOracle":
        """Stretch by the root that is best for the error norm, of the mean or, of counts, the second moment."""
        rows, (n, d) = table.rows, table.rows.shape
        column, row = rows.indices, np.repeat(np.arange(n), np.diff(rows.indptr))
        moment = table.mean if table.binary else np.bincount(column, rows.data**2, minlength=d) / n
        stretch = np.maximum(moment, 0.5 / n) ** (1 / (error_norm + 2))
        norm = np.sqrt(np.bincount(row, (rows.data / stretch[column]) ** 2, minlength=n))
        radii = np.sort(norm)[[n - 1 - min(k, n // 2) for k in CLIPPED]]
        shorter = np.minimum(1.0, radii[:, None] / np.maximum(norm, 1e-300))
        clipped = [np.bincount(column, rows.data * factor[row], minlength=d) / n for factor in shorter]
        return cls(
            table=table,
            error_norm=error_norm,
            noise_std=radii[:, None] * stretch / n,  # sensitivity √2·radius
            clipped=np.stack(clipped),
        )

    def errors(self, rho: float, rng: Generator) -> NDArray[np.float64]:
        """The error at every radius in one run."""
        noise = rng.standard_normal(self.noise_std.shape[1])
        estimates = self.clipped + self.noise_std / np.sqrt(rho) * noise
        return np.array([item_error(found, self.table, self.error_norm) for found in estimates])


def item_error(estimate: FloatArray, table: ItemTable, error_norm: float) -> float:
    """ℓ1/2 or ℓ2 distance of the estimate, clamped to the bounds, to what it is measured against."""
    distance = np.linalg.norm(np.clip(estimate, 0.0, table.high) - table.mean, ord=error_norm)
    return float(distance) / 2 if error_norm == 1 else float(distance)
