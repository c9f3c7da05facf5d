"""How many more instructions a variant executes, function by function: counted, not sampled."""
