#include "words.h"

uint32_t sum_of(const struct word *words, size_t count) {
    uint32_t sum = 2166136261u;
    for (size_t k = 0; k < count; k++)
        for (int byte = 0; byte < 8; byte++)
            sum = (sum ^ (uint32_t)(words[k].letters >> 8 * byte & 255)) * 16777619u + words[k].count;
    return sum;
}
