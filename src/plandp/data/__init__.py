"""Sources of rows that can be folded, one file per kind of container."""
