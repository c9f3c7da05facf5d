"""The default answer about a trial: judging it, the gate, the ranking and the comparison of trials."""
