"""What is counted around a run, beside its time: a package a kind of meter."""
