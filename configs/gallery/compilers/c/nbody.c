/* Bodies that attract each other: double-precision arithmetic with divisions and square roots.
   Compiled with -ffp-contract=off, every conforming compiler gives the same last digit. */
#include <math.h>
#include <stdio.h>

enum { BODIES = 5, STEPS = 150000 };

static double x[BODIES][3], v[BODIES][3], mass[BODIES];

static void advance(double dt)
{
    for (int i = 0; i < BODIES; i++)
        for (int j = i + 1; j < BODIES; j++) {
            double d[3], square = 0.01; /* softened: close bodies do not fly apart */
            for (int k = 0; k < 3; k++) {
                d[k] = x[i][k] - x[j][k];
                square += d[k] * d[k];
            }
            double force = dt / (square * sqrt(square));
            for (int k = 0; k < 3; k++) {
                v[i][k] -= d[k] * mass[j] * force;
                v[j][k] += d[k] * mass[i] * force;
            }
        }
    for (int i = 0; i < BODIES; i++)
        for (int k = 0; k < 3; k++)
            x[i][k] += dt * v[i][k];
}

int main(void)
{
    for (int i = 0; i < BODIES; i++) {
        mass[i] = i == 0 ? 40.0 : 0.01 * i;
        x[i][0] = 2.0 * i;
        x[i][1] = 0.5 * i;
        x[i][2] = 0.125 * i;
        v[i][1] = i == 0 ? 0.0 : 4.0 / i;
    }
    for (int step = 0; step < STEPS; step++)
        advance(0.001);
    double energy = 0.0;
    for (int i = 0; i < BODIES; i++) {
        double square = v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2];
        energy += 0.5 * mass[i] * square;
    }
    printf("checksum %.12e\n", energy);
    return 0;
}
