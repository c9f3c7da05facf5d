#include "words.h"

static int is_blank(char letter) {
    return letter == ' ' || letter == '\n';
}

const char *next_word(const char *text, const char *end, uint64_t *letters) {
    *letters = 0;
    while (text < end && is_blank(*text))
        text++;
    while (text < end && !is_blank(*text))
        *letters = *letters << 8 | (unsigned char)*text++;
    return text;
}
