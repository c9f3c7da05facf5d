/* Quicksort of pseudo-random numbers: branches that nothing can predict, recursion. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

enum { N = 200000 };

static uint32_t values[N];

static void quicksort(uint32_t *v, long n)
{
    while (n > 16) {
        uint32_t pivot = v[n / 2];
        long i = 0, j = n - 1;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i <= j) {
                uint32_t swap = v[i];
                v[i++] = v[j];
                v[j--] = swap;
            }
        }
        if (j + 1 < n - i) { /* the smaller part by recursion, the larger one by the loop */
            quicksort(v, j + 1);
            v += i;
            n -= i;
        } else {
            quicksort(v + i, n - i);
            n = j + 1;
        }
    }
    for (long i = 1; i < n; i++) {
        uint32_t key = v[i];
        long j = i;
        for (; j > 0 && v[j - 1] > key; j--)
            v[j] = v[j - 1];
        v[j] = key;
    }
}

int main(void)
{
    uint32_t state = 20261121;
    for (long i = 0; i < N; i++) {
        state = state * 1664525u + 1013904223u;
        values[i] = state >> 4;
    }
    quicksort(values, N);
    uint32_t sum = 0;
    for (long i = 0; i < N; i++) {
        if (i > 0 && values[i - 1] > values[i]) {
            puts("not sorted");
            return 1;
        }
        sum = sum * 31 + values[i];
    }
    printf("checksum %" PRIu32 "\n", sum);
    return 0;
}
