"""What mixtures say about single runs: I1 to I4."""
