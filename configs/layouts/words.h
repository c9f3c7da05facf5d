/* A small program of several files: it makes a text, counts its words in a table, sorts and sums them. */
#include <stddef.h>
#include <stdint.h>

struct word {
    uint64_t letters;
    uint32_t count;
};

size_t write_text(char *text, size_t length, uint32_t seed);
const char *next_word(const char *text, const char *end, uint64_t *letters);
size_t slot_of(const struct word *table, size_t size, uint64_t letters);
void sort_words(struct word *words, size_t count);
uint32_t sum_of(const struct word *words, size_t count);
