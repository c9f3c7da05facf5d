/* The floor: spawn a program with posix_spawn, wait with wait4, print the wall time of each in ns.

   floor one COUNT PROGRAM ...    with one variable, and whatever files and signals it has itself
   floor same COUNT PROGRAM ...   as fairtrial spawns: all variables and a padding of random length, a
                                  session of its own, default signals, /dev/null for the three files */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    int same = strcmp(argv[1], "same") == 0, count = atoi(argv[2]), variables = 0;
    long long *wall = malloc(sizeof(long long) * count);
    char *only[] = {"PATH=/usr/bin:/bin", NULL}, **env = only;
    char padding[4200] = "FAIRTRIAL_PADDING=";
    size_t head = strlen(padding);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;

    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    if (same) {
        while (environ[variables]) variables++;
        env = malloc(sizeof(char *) * (variables + 2));
        memcpy(env, environ, sizeof(char *) * variables);
        env[variables] = padding;
        env[variables + 1] = NULL;
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        for (int fd = 0; fd < 3; fd++) posix_spawn_file_actions_adddup2(&actions, null, fd);
        int ordinary[] = {SIGPIPE, SIGXFSZ, SIGXCPU, SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
        sigemptyset(&none);
        sigemptyset(&defaults);
        for (int k = 0; k < 8; k++) sigaddset(&defaults, ordinary[k]);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &defaults);
        posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
    }
    srandom(1);
    for (int i = 0; i < count; i++) {
        pid_t pid;
        int status;
        struct rusage usage;
        memset(padding + head, 'x', 4096);
        padding[head + random() % 4096] = 0;
        long long begin = now();
        int failed = same ? posix_spawn(&pid, argv[3], &actions, &attributes, argv + 3, env)
                          : posix_spawn(&pid, argv[3], NULL, NULL, argv + 3, env);
        if (failed) return 1;
        wait4(pid, &status, 0, &usage);
        wall[i] = now() - begin;
    }
    for (int i = 0; i < count; i++) printf("%lld\n", wall[i]);
    return 0;
}
