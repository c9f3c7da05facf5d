/* Works for about so many milliseconds of processor time: drawn_spin MILLISECONDS SD_PERCENT SEED COUNTER

The length is lognormal around MILLISECONDS, drawn from SEED and from the number in the file COUNTER, which
each run takes and raises: so every run has another length, and the series is the same every time. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

static uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static double uniform(uint64_t x)
{
    return (double)((mixed(x) >> 11) + 1) / 9007199254740993.0;
}

static uint64_t taken(const char *counter)
{
    uint64_t number = 0;
    int fd = open(counter, O_RDWR | O_CREAT, 0644);
    if (fd < 0 || flock(fd, LOCK_EX) || pread(fd, &number, sizeof number, 0) < 0)
        exit(2);
    uint64_t next = number + 1;
    if (pwrite(fd, &next, sizeof next, 0) != sizeof next)
        exit(2);
    close(fd);
    return number;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    uint64_t key = mixed((uint64_t)strtoull(argv[3], 0, 10)) + 2 * taken(argv[4]);
    double z = sqrt(-2 * log(uniform(key))) * cos(6.283185307179586 * uniform(key + 1));
    double until = atof(argv[1]) / 1e3 * exp(atof(argv[2]) / 100 * z);
    struct timespec now;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while (now.tv_sec + now.tv_nsec / 1e9 < until);
    return 0;
}
