"""Gaussian mixtures of run times: VARCORE."""
