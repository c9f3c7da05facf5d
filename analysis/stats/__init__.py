"""Arrays in, numbers out: ranks, tests of two samples, random streams, compiled kernels."""
