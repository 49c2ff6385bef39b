"""Everything of `plandp reproduce` at a size where it happens and nothing is learnt."""

from plandp_lab.reproduce.scale import Scale

SMALL = Scale(
    name="small",
    runs=2,
    rhos=("1",),
    dims=(4, 8),
    columns_b=8,
    alphas=(0.0, 2.0),
    small_rho_rows=1_000,
    small_rho_dims=(4,),
    small_rho_columns_b=4,
    largest=(16,),
    binary_dims=(32,),
    ratios=(0.0, 1.0),
    real_rhos=("1",),
    real_runs=1,
    real_iome_runs=1,
    variance_runs=1,
)
