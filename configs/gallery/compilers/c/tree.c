/* Builds a binary search tree and walks it: pointers all over the memory. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

enum { NODES = 20000, LOOKUPS = 100000 };

struct node {
    uint32_t key;
    struct node *left, *right;
};

static struct node nodes[NODES];
static uint32_t state = 3;

static uint32_t next_random(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 3;
}

static void insert(struct node *root, struct node *fresh)
{
    for (;;) {
        struct node **below = fresh->key < root->key ? &root->left : &root->right;
        if (*below == NULL) {
            *below = fresh;
            return;
        }
        root = *below;
    }
}

static uint32_t depth_of_nearest(const struct node *root, uint32_t key)
{
    uint32_t depth = 0;
    while (root != NULL && root->key != key) {
        root = key < root->key ? root->left : root->right;
        depth++;
    }
    return depth;
}

int main(void)
{
    for (long i = 0; i < NODES; i++) {
        nodes[i].key = next_random();
        if (i > 0)
            insert(&nodes[0], &nodes[i]);
    }
    uint32_t sum = 0;
    for (long i = 0; i < LOOKUPS; i++)
        sum = sum * 31 + depth_of_nearest(&nodes[0], next_random());
    printf("checksum %" PRIu32 "\n", sum);
    return 0;
}
