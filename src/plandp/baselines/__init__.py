"""Simpler estimators with the same signature, to compare with and to fall back on."""
