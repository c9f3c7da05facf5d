/* Six small programs in one, each with a handful of functions; the study of false names (why_names.py) profiles them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static unsigned state = 1;
static volatile unsigned sink;

APART unsigned next_number(void) { return state = state * 1664525u + 1013904223u; }

APART void fill(unsigned *values, int count) {
    for (int i = 0; i < count; i++) values[i] = next_number() >> 8;
}

/* sort */
APART int compare(const void *a, const void *b) {
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return x < y ? -1 : x > y;
}

APART unsigned checksum(const unsigned *values, int count) {
    unsigned total = 0;
    for (int round = 0; round < 30; round++)
        for (int i = 0; i < count; i++) total = total * 31 + values[i];
    return total;
}

static void sort(void) {
    int count = 120000;
    unsigned *values = malloc(count * sizeof *values);
    fill(values, count);
    qsort(values, count, sizeof *values, compare);
    sink = checksum(values, count);
}

/* table */
#define SLOTS (1 << 17)
static unsigned keys[SLOTS];

APART unsigned slot_of(unsigned key) { return (key * 2654435761u) >> 15 & (SLOTS - 1); }

APART void insert(unsigned key) {
    unsigned slot = slot_of(key);
    while (keys[slot] && keys[slot] != key) slot = (slot + 1) & (SLOTS - 1);
    keys[slot] = key;
}

APART int lookup(unsigned key) {
    unsigned slot = slot_of(key);
    while (keys[slot] && keys[slot] != key) slot = (slot + 1) & (SLOTS - 1);
    return keys[slot] == key;
}

static void table(void) {
    for (int i = 0; i < 60000; i++) insert(next_number() | 1);
    unsigned found = 0;
    for (int i = 0; i < 1500000; i++) found += lookup(next_number() | 1);
    sink = found;
}

/* matrix */
#define SIDE 160
static double left[SIDE][SIDE], right[SIDE][SIDE], product[SIDE][SIDE];

APART void multiply(void) {
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            double total = 0;
            for (int k = 0; k < SIDE; k++) total += left[i][k] * right[k][j];
            product[i][j] = total;
        }
}

APART void transpose(void) {
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < i; j++) {
            double kept = product[i][j];
            product[i][j] = product[j][i];
            product[j][i] = kept;
        }
}

APART double norm(void) {
    double total = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) total += product[i][j] * product[i][j];
    return total;
}

static void matrix(void) {
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) left[i][j] = right[j][i] = next_number() % 100;
    double total = 0;
    for (int round = 0; round < 10; round++) {
        multiply();
        for (int k = 0; k < 40; k++) transpose();
        total += norm();
    }
    sink = (unsigned)total;
}

/* memory */
APART void *make(unsigned size) { return memset(malloc(size), 1, size); }

APART void churn(void **pieces, int count) {
    for (int i = 0; i < 500000; i++) {
        int place = next_number() % count;
        free(pieces[place]);
        pieces[place] = make(16 + next_number() % 500);
    }
}

static void memory(void) {
    void **pieces = calloc(3000, sizeof *pieces);
    churn(pieces, 3000);
}

/* text */
APART int is_letter(int sign) { return (sign | 32) >= 'a' && (sign | 32) <= 'z'; }

APART unsigned words(const char *text) {
    unsigned count = 0, inside = 0;
    for (; *text; text++) {
        unsigned letter = is_letter(*text);
        count += letter && !inside;
        inside = letter;
    }
    return count;
}

APART unsigned lines(const char *text) {
    unsigned count = 0;
    while ((text = strchr(text, '\n'))) count++, text++;
    return count;
}

APART void write_text(char *text, int count) {
    for (int i = 0; i < count; i++) text[i] = "etaoin shrdlu\ncmfwyp"[next_number() % 20];
    text[count] = 0;
}

static void text(void) {
    int count = 2000000;
    char *all = malloc(count + 1);
    write_text(all, count);
    unsigned total = 0;
    for (int round = 0; round < 3; round++) total += words(all) + lines(all) + strlen(all);
    sink = total;
}

/* calls */
APART void send(int to, const char *block, int size) { sink = write(to, block, size); }
APART void take(int from, char *block, int size) { sink = read(from, block, size); }

static void calls(void) {
    int ends[2];
    static char block[4096];
    if (pipe(ends)) exit(1);
    for (int i = 0; i < 40000; i++) {
        send(ends[1], block, sizeof block);
        take(ends[0], block, sizeof block);
    }
}

int main(int count, char **names) {
    static const struct { const char *name; void (*work)(void); } all[] = {
        {"sort", sort},     {"table", table}, {"matrix", matrix},
        {"memory", memory}, {"text", text},   {"calls", calls},
    };
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (count > 1 && !strcmp(names[1], all[i].name)) {
            for (int rounds = count > 2 ? atoi(names[2]) : 1; rounds > 0; rounds--) all[i].work();
            return 0;
        }
    return 2;
}
