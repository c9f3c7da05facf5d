"""The screens of a verdict: the answer as a sentence, its table, what to note, and what to do next."""
