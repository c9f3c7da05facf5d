"""The suite as a whole: five numbers of each benchmark, the biplot, the ranking."""
