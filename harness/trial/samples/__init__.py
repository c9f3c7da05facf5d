"""What is stored of the values that a run printed: in its row, or in a file beside."""
