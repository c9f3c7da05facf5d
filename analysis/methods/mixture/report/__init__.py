"""The whole answer of the command ``mixture``."""
