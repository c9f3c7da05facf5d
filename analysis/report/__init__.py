"""How results are set for a reader; knows no method."""
