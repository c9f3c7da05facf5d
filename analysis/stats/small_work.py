"""When to do without the compiled kernels: small work is done by numpy before they are loaded."""

from __future__ import annotations


class Budget:
    """How much work of one sort a process does by numpy, in whatever it is counted.

    As much as takes about the time that loading the kernels takes: so nobody who comes with little
    work waits for them (or for a compiler, the first time), and nobody with much work loses more
    than that once. Both ways give the same numbers, so what came before changes no result.
    """

    def __init__(self, most: int) -> None:
        self.left = most

    def allows(self, work: int) -> bool:
        """Take the work from what is left; False once it exceeds that."""
        self.left -= work
        return self.left >= 0
