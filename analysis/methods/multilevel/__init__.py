"""The sound verdict: t on the session values of the difference, one interval, one word."""
