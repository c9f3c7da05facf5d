"""A bisection as a page: the culprits, where the search looked, and the numbers of each proof."""
