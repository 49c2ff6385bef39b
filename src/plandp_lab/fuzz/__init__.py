"""Hostile input for every public entry of plandp; `python -m plandp_lab.fuzz` tries it and prints what was tried."""
