/* Sieve of Eratosthenes: strides through an array of bytes that is larger than the first cache. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

enum { LIMIT = 4000000 };

static uint8_t composite[LIMIT];

int main(void)
{
    int64_t count = 0, last = 0;
    for (int64_t i = 2; i < LIMIT; i++) {
        if (composite[i])
            continue;
        count++;
        last = i;
        for (int64_t j = i * i; j < LIMIT; j += i)
            composite[j] = 1;
    }
    printf("checksum %" PRId64 " %" PRId64 "\n", count, last);
    return 0;
}
