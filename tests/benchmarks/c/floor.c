/* The floor: spawn a program with posix_spawn, wait with wait4, print the wall time of each in ns. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int count = atoi(argv[1]);
    long long *wall = malloc(sizeof(long long) * count);
    for (int i = 0; i < count; i++) {
        pid_t pid;
        int status;
        struct rusage usage;
        long long begin = now();
        if (posix_spawn(&pid, argv[2], NULL, NULL, argv + 2, environ) != 0) return 1;
        wait4(pid, &status, 0, &usage);
        wall[i] = now() - begin;
    }
    for (int i = 0; i < count; i++) printf("%lld\n", wall[i]);
    return 0;
}
