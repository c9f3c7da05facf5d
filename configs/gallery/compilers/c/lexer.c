/* Splits a text into words and counts them in a hash table: bytes, branches, look-ups. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 1 << 21, SLOTS = 1 << 14, LONGEST = 16 };

struct slot {
    char word[LONGEST];
    uint32_t count;
};

static char text[SIZE + 1];
static struct slot slots[SLOTS];

static void write_text(void)
{
    uint32_t state = 7;
    long at = 0;
    while (at < SIZE - LONGEST) {
        state = state * 1664525u + 1013904223u;
        uint32_t word = (state >> 20) * (state >> 24) >> 8; /* frequent words and rare ones */
        do {
            text[at++] = (char)('a' + word % 26);
            word /= 26;
        } while (word > 0);
        text[at++] = (state >> 9) % 11 == 0 ? '\n' : ' ';
    }
}

static int is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

static void count_word(const char *word, long length)
{
    uint32_t hash = 2166136261u;
    for (long i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)word[i]) * 16777619u;
    uint32_t at = hash % SLOTS;
    while (slots[at].count > 0
           && (memcmp(slots[at].word, word, (size_t)length) != 0 || slots[at].word[length] != 0))
        at = (at + 1) % SLOTS;
    if (slots[at].count++ == 0)
        memcpy(slots[at].word, word, (size_t)length);
}

int main(void)
{
    write_text();
    uint32_t words = 0;
    for (const char *p = text; *p != 0;) {
        while (*p != 0 && !is_letter(*p))
            p++;
        const char *start = p;
        while (is_letter(*p))
            p++;
        if (p > start) {
            count_word(start, p - start);
            words++;
        }
    }
    uint32_t sum = 0, different = 0;
    for (long i = 0; i < SLOTS; i++) {
        different += slots[i].count > 0;
        sum = sum * 31 + slots[i].count;
    }
    printf("checksum %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", words, different, sum);
    return 0;
}
