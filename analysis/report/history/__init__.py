"""The history of nights as a page: a strip for each benchmark, and the evidence of each change."""
