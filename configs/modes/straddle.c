/* Reads a buffer on the stack, each load waiting for the one before it. Where the stack begins decides
   whether a load crosses the border of two cache lines, which takes some processors twice as long, and others
   hardly longer. */
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BYTES = 592, FIRST = 12, LINE = 64, ROUNDS = 400000 };

/* Every value is 0, and part of the next address: a load cannot begin before the last one has ended.
   Nothing is written in between; a store that a load waits for has two speeds of its own. */
__attribute__((noinline)) static uint64_t chain(const unsigned char *buffer)
{
    uint64_t last = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int place = FIRST; place + (int)sizeof last <= BYTES; place += LINE)
            memcpy(&last, buffer + place + last, sizeof last);
    return last;
}

int main(void)
{
    /* Aligned to 16 bytes, so it begins at one of four places in a line of 64. At one of them the eight
       bytes from 12 on lie in two lines. */
    alignas(16) unsigned char buffer[BYTES] = {0};
    uint64_t sum = chain(buffer);
    printf("sum %llu\ncpu %9.3f ms\n", (unsigned long long)sum, 1e3 * (double)clock() / CLOCKS_PER_SEC);
    return 0;
}
