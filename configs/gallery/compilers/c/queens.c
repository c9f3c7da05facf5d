/* Places N queens on a board in every possible way: deep recursion on a few integers. */
#include <stdint.h>
#include <stdio.h>

enum { N = 12 };

static long place(uint32_t columns, uint32_t left, uint32_t right)
{
    const uint32_t full = (1u << N) - 1;
    if (columns == full)
        return 1;
    long found = 0;
    for (uint32_t free = full & ~(columns | left | right); free != 0; free &= free - 1) {
        uint32_t queen = free & (0u - free);
        found += place(columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    return found;
}

int main(void)
{
    printf("checksum %ld\n", place(0, 0, 0));
    return 0;
}
