#include "words.h"

static int stands_before(const struct word *a, const struct word *b) {
    return a->count != b->count ? a->count > b->count : a->letters < b->letters;
}

static void sift(struct word *words, size_t at, size_t count) {
    struct word moved = words[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && stands_before(&words[child], &words[child + 1]))
            child++;
        if (!stands_before(&moved, &words[child]))
            break;
        words[at] = words[child];
    }
    words[at] = moved;
}

void sort_words(struct word *words, size_t count) {
    for (size_t k = count / 2; k-- > 0;)
        sift(words, k, count);
    for (size_t k = count; k-- > 1;) {
        struct word first = words[0];
        words[0] = words[k];
        words[k] = first;
        sift(words, 0, k);
    }
}
