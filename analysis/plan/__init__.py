"""How many runs, sessions or hosts an answer needs, and when a trial may stop."""
