"""Columns of a trial that are no numbers of its rows: values of builds, quantiles of whole sessions."""
