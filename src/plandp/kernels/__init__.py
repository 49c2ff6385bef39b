"""Inner loops, compiled where Numba is installed; the NumPy code that they stand for gives the same bits."""
