"""What decides which runs of a session are executed: failures, the stopping rule, repeats."""
