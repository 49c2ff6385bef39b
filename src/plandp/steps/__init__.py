"""The lines of the algorithm: centre, spread, radius and sum, each made of mechanisms."""
