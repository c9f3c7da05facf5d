"""Going on with a trial: which one, whether it is still the same experiment, and how it is said."""
