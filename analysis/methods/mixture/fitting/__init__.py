"""Expectation maximisation and the choice of a model by BIC."""
