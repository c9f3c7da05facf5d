/* Fills a hash table whose multiplier is drawn anew in each run, one of eight. Two of them suit the keys
   badly: these fall into few slots, and each search walks a long way. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { BITS = 13, SLOTS = 1 << BITS, KEYS = 2048, STRIDE = 1 << 12, ROUNDS = 400 };

static const uint32_t multipliers[8] = {
    2654435769u, 2246822519u, 3266489917u, 1u << 13,
    668265263u, 374761393u, 3u << 13, 1597334677u,
};

static uint32_t slots[SLOTS];

static int insert(uint32_t key, uint32_t multiplier)
{
    uint32_t at = (key * multiplier) >> (32 - BITS);
    while (slots[at] != 0 && slots[at] != key)
        at = (at + 1) & (SLOTS - 1);
    int fresh = slots[at] == 0;
    slots[at] = key;
    return fresh;
}

int main(void)
{
    unsigned char drawn;
    if (getrandom(&drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn)
        return EXIT_FAILURE;
    unsigned seed = drawn % 8;
    long inserted = 0;
    for (int round = 0; round < ROUNDS; round++) {
        memset(slots, 0, sizeof slots);
        for (uint32_t key = 1; key <= KEYS; key++)
            inserted += insert(key * STRIDE, multipliers[seed]);
    }
    /* Always as many bytes: what a program writes is compared with its time, too. */
    printf("seed %u\nkeys %ld\ncpu %9.3f ms\n", seed, inserted, 1e3 * (double)clock() / CLOCKS_PER_SEC);
    return 0;
}
