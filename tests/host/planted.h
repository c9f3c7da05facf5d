/* A time that a test plants: the same on every processor, and whatever else a machine does.
   The program sleeps for it, and prints it as the processor time that it would have taken. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* nanosleep and getrandom, with -std=c11 too */
#endif
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

static int take(double milliseconds)
{
    unsigned char drawn[8];
    double jitter = 0; /* of eight uniform draws: nearly normal, with a standard deviation of 2 % */
    if (getrandom(drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn)
        return 1;
    for (unsigned k = 0; k < sizeof drawn; k++)
        jitter += drawn[k] / 255.0 - 0.5;
    milliseconds *= 1 + 0.0245 * jitter;
    struct timespec left = {0, (long)(1e6 * milliseconds)};
    nanosleep(&left, NULL);
    printf("cpu %9.3f ms\n", milliseconds);
    return 0;
}
