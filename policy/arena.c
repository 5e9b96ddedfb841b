#include "policy/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first block is sized for an ordinary decision, so that one allocation serves it (chapter 6.1). */
enum { FIRST_BLOCK = 16 * 1024, LARGEST_STEP = 1024 * 1024 };

struct arena_block {
	struct arena_block *older;
	size_t size; /* of data */
	alignas(max_align_t) unsigned char data[];
};

/* Stands in the arena itself. */
struct arena_guest {
	struct arena_guest *older;
	void (*release)(void *what);
	void *what;
};

void arena_init(struct arena *arena, size_t ceiling)
{
	*arena = (struct arena){.ceiling = ceiling};
}

bool arena_adopt(struct arena *arena, void (*release)(void *what), void *what)
{
	struct arena_guest *guest = ARENA_NEW(arena, struct arena_guest);

	if (!guest)
		return false;
	*guest = (struct arena_guest){arena->guests, release, what};
	arena->guests = guest;
	return true;
}

static void release_guests(struct arena *arena)
{
	for (struct arena_guest *guest = arena->guests; guest; guest = guest->older)
		guest->release(guest->what);
	arena->guests = NULL;
}

static void free_older(struct arena *arena)
{
	struct arena_block *block = arena->head ? arena->head->older : NULL;

	while (block) {
		struct arena_block *older = block->older;

		arena->total -= block->size;
		free(block);
		block = older;
	}
	if (arena->head)
		arena->head->older = NULL;
}

void arena_release(struct arena *arena)
{
	release_guests(arena);
	free_older(arena);
	free(arena->head);
	arena_init(arena, arena->ceiling);
}

void arena_reset(struct arena *arena)
{
	release_guests(arena);
	free_older(arena);
	if (arena->head)
		memset(arena->head->data, 0, arena->used);
	arena->used = 0;
	arena->failed = false;
}

static void *fail(struct arena *arena)
{
	arena->failed = true;
	return NULL;
}

/* Blocks double, so that a large document costs a handful of allocations. */
static struct arena_block *new_block(struct arena *arena, size_t need)
{
	size_t size = arena->head ? arena->head->size * 2 : FIRST_BLOCK;
	struct arena_block *block;

	if (size > LARGEST_STEP)
		size = LARGEST_STEP;
	if (size > arena->ceiling - arena->total)
		size = arena->ceiling - arena->total;
	if (size < need)
		size = need;
	if (size > arena->ceiling - arena->total)
		return NULL;
	block = calloc(1, sizeof(*block) + size);
	if (!block)
		return NULL;
	block->size = size;
	block->older = arena->head;
	arena->head = block;
	arena->used = 0;
	arena->total += size;
	return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	const size_t align = alignof(max_align_t);
	void *piece;

	if (size > SIZE_MAX - align)
		return fail(arena);
	size = (size + align - 1) & ~(align - 1);
	if (size == 0)
		size = align;
	if (!arena->head || arena->head->size - arena->used < size) {
		if (!new_block(arena, size))
			return fail(arena);
	}
	piece = arena->head->data + arena->used;
	arena->used += size;
	return piece;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return fail(arena);
	return arena_alloc(arena, bytes);
}

char *arena_copy(struct arena *arena, const char *bytes, size_t len)
{
	char *copy = len < SIZE_MAX ? arena_alloc(arena, len + 1) : fail(arena);

	if (copy && len)
		memcpy(copy, bytes, len);
	return copy;
}

struct str arena_str(struct arena *arena, struct str text)
{
	if (!text.bytes)
		return text;
	text.bytes = arena_copy(arena, text.bytes, text.len);
	return text;
}

struct str arena_printf(struct arena *arena, const char *format, ...)
{
	char brief[256]; /* almost every text fits, and is formatted once */
	va_list args;
	char *text;
	int len;

	va_start(args, format);
	len = vsnprintf(brief, sizeof(brief), format, args);
	va_end(args);
	CHECK(len >= 0);
	text = arena_alloc(arena, (size_t)len + 1);
	if (!text)
		return (struct str){0};
	if ((size_t)len < sizeof(brief)) {
		memcpy(text, brief, (size_t)len);
		return (struct str){text, (size_t)len};
	}
	va_start(args, format);
	(void)vsnprintf(text, (size_t)len + 1, format, args);
	va_end(args);
	return (struct str){text, (size_t)len};
}

bool str_equal(struct str a, struct str b)
{
	if (!a.bytes || !b.bytes)
		return a.bytes == b.bytes;
	return a.len == b.len && (a.len == 0 || memcmp(a.bytes, b.bytes, a.len) == 0);
}

bool str_is(struct str a, const char *literal)
{
	return a.bytes && a.len == strlen(literal) && memcmp(a.bytes, literal, a.len) == 0;
}

int str_compare(struct str a, struct str b)
{
	size_t shorter = a.len < b.len ? a.len : b.len;
	int order = shorter ? memcmp(a.bytes, b.bytes, shorter) : 0;

	if (order)
		return order;
	return (a.len > b.len) - (a.len < b.len);
}
