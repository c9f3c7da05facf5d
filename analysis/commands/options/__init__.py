"""Options that several commands share, beyond those of ``arguments.py``: how is judged, how figures are set, who works."""
