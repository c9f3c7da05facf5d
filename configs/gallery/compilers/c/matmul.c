/* Multiplies two square matrices of integers: nested loops over arrays, regular access. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

enum { N = 160, ROUNDS = 9 };

static uint32_t a[N][N], b[N][N], c[N][N];

static void multiply(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            c[i][j] = 0;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++)
                c[i][j] += a[i][k] * b[k][j];
}

int main(void)
{
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t j = 0; j < N; j++) {
            a[i][j] = i * 7 + j * 3 + 1;
            b[i][j] = (i ^ j) + 5;
        }
    uint32_t sum = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        multiply();
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                sum = sum * 31 + c[i][j];
        a[round][round] = sum; /* the next round depends on this one */
    }
    printf("checksum %" PRIu32 "\n", sum);
    return 0;
}
