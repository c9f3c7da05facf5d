"""What `fairtrial compare` answers: a sentence, the times of the commands, what to note and what to do next."""
