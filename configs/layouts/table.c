#include "words.h"

static size_t hash(uint64_t letters) {
    letters *= 0x9e3779b97f4a7c15u;
    return (size_t)(letters >> 32);
}

size_t slot_of(const struct word *table, size_t size, uint64_t letters) {
    size_t slot = hash(letters) & (size - 1);
    while (table[slot].count && table[slot].letters != letters)
        slot = (slot + 1) & (size - 1);
    return slot;
}
