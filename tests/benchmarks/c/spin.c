/* Spin for argv[1] microseconds of wall time; without an argument, end at once. */
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv) {
    struct timespec begin, now;
    if (argc < 2) return 0;
    long limit = atol(argv[1]) * 1000L;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000000L + (now.tv_nsec - begin.tv_nsec) < limit);
    return 0;
}
