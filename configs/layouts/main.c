#include "words.h"

#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 1 << 16, SIZE = 1 << 18, ROUNDS = 40 };

static char text[LENGTH];
static struct word table[SIZE];

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
    for (int round = 0; round < rounds; round++) {
        const char *end = text + write_text(text, LENGTH, 2463534242u + (uint32_t)round);
        uint64_t letters;
        for (const char *at = text; at < end;) {
            at = next_word(at, end, &letters);
            struct word *own = &table[slot_of(table, SIZE, letters)];
            own->letters = letters;
            own->count++;
        }
    }
    size_t used = 0;
    for (size_t slot = 0; slot < SIZE; slot++)
        if (table[slot].count)
            table[used++] = table[slot];
    sort_words(table, used);
    printf("checksum %zu %u\n", used, (unsigned)sum_of(table, used));
    return 0;
}
