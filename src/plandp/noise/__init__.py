"""The only randomness in plandp: bits, exact samplers and the metered door."""
