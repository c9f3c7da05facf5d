"""The calibrated test of fit."""
