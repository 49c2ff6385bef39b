"""How much of the paper's settings is run: all of it, or a little of everything."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Budgets, sizes and numbers of runs."""

    name: str
    runs: int
    rhos: tuple[str, ...]
    dims: tuple[int, ...]  # of Gaussian A and C
    columns_b: int
    alphas: tuple[float, ...]
    small_rho_rows: int
    small_rho_dims: tuple[int, ...]
    small_rho_columns_b: int
    largest: tuple[int, ...]  # the appendix's further dimension
    binary_dims: tuple[int, ...]
    ratios: tuple[float, ...]
    real_rhos: tuple[str, ...]
    real_runs: int
    real_iome_runs: int
    variance_runs: int


FULL = Scale(
    name="full",
    runs=50,
    rhos=("1", "0.5", "0.125"),
    dims=(16, 32, 64, 128, 256, 512, 1024),
    columns_b=512,
    alphas=(0.0, 0.5, 1.0, 1.5, 2.0),
    small_rho_rows=100_000,
    small_rho_dims=(16, 32, 64, 128, 256, 512, 1024),
    small_rho_columns_b=64,
    largest=(2048,),
    binary_dims=(256, 512, 1024, 2048),
    ratios=(0.0, 0.25, 0.5, 0.75, 1.0),
    real_rhos=("1", "0.5", "0.25", "0.125", "0.0625"),
    real_runs=20,  # as in the published files, which have 2 runs of IOME
    real_iome_runs=2,
    variance_runs=100,
)
QUICK = Scale(
    name="quick",
    runs=5,
    rhos=("1", "0.125"),
    dims=(16, 64, 256),
    columns_b=512,
    alphas=(0.0, 1.0, 2.0),
    small_rho_rows=100_000,
    small_rho_dims=(16, 64),
    small_rho_columns_b=64,
    largest=(1024,),
    binary_dims=(256, 1024),
    ratios=(0.0, 0.5, 1.0),
    real_rhos=("1", "0.25", "0.0625"),
    real_runs=3,
    real_iome_runs=1,
    variance_runs=20,
)
