"""Systems and benchmarks in one picture: the biplot."""
