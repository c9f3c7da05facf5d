"""The iterations within runs: which of them are judged, and those that stand in files of their own."""
