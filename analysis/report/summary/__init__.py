"""The answer as a table of one line a benchmark: for a terminal, a pull request and a paper."""
