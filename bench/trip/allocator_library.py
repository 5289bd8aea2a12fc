"""The text of the library of `bench.trip.allocations`, in C, which is the language of Python's allocators.

To count other calls, change `SOURCE`, which is compiled for each run. Its structure is that of PyMemAllocatorEx,
which has been the same since Python 3.5.
"""

from __future__ import annotations

SOURCE = """\
#include <stddef.h>

typedef struct {
    void *ctx;
    void *(*malloc)(void *ctx, size_t size);
    void *(*calloc)(void *ctx, size_t count, size_t size);
    void *(*realloc)(void *ctx, void *memory, size_t size);
    void (*free)(void *ctx, void *memory);
} Allocator;

typedef void (*Exchange)(int domain, Allocator *allocator);

/* The domains "mem" and "object". They pass large requests on to "raw", which would count them twice. */
enum { FIRST = 1, DOMAINS = 3 };
static Allocator original[DOMAINS];
static long long counted;

static void count(void) { __atomic_fetch_add(&counted, 1, __ATOMIC_RELAXED); }

static void *count_malloc(void *ctx, size_t size) {
    Allocator *next = ctx;
    count();
    return next->malloc(next->ctx, size);
}

static void *count_calloc(void *ctx, size_t number, size_t size) {
    Allocator *next = ctx;
    count();
    return next->calloc(next->ctx, number, size);
}

static void *count_realloc(void *ctx, void *memory, size_t size) {
    Allocator *next = ctx;
    count();
    return next->realloc(next->ctx, memory, size);
}

static void forward_free(void *ctx, void *memory) {
    Allocator *next = ctx;
    next->free(next->ctx, memory);
}

/* Put the counter before the allocators; call once, with the interpreter's lock held. */
void begin_counting(Exchange get, Exchange set) {
    for (int domain = FIRST; domain < DOMAINS; domain++) {
        Allocator counting = {&original[domain], count_malloc, count_calloc, count_realloc, forward_free};
        get(domain, &original[domain]);
        set(domain, &counting);
    }
}

/* How often memory has been asked for since then. */
long long allocations(void) { return __atomic_load_n(&counted, __ATOMIC_RELAXED); }
"""
