#include "words.h"

#ifdef UNUSED /* the variant `new`: a function that nobody calls, in front of all others of this file */
uint32_t nobody_calls_this(uint32_t x) {
    for (int k = 0; k < 7; k++)
        x = x * 2654435761u ^ x >> 13;
    return x;
}
#endif

static uint32_t draw(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

size_t write_text(char *text, size_t length, uint32_t seed) {
    size_t used = 0;
    while (used + 10 < length) {
        uint32_t drawn = draw(&seed), letters = 2 + drawn % 3 + drawn / 7 % 2;
        for (uint32_t k = 0; k < letters; k++)
            text[used++] = (char)('a' + draw(&seed) % 10);
        text[used++] = drawn % 11 ? ' ' : '\n';
    }
    return used;
}
