"""One published method, one file; they do not know each other."""
