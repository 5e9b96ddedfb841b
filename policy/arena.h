/* arena.h - memory that lives as long as one request, one compiled package or one catalog (chapter 3.2).
 *
 * An arena hands out zeroed, aligned pieces and gives all of them back at once. It has a ceiling, so that no
 * input can make a request grow without bound. Not thread-safe: one thread at a time.
 *
 * Errors: a function that allocates returns NULL when memory is out or the ceiling is reached; the caller
 * passes -ENOMEM on. Once an allocation failed, `failed` stays set until the arena is reset.
 */
#ifndef ADMITD_POLICY_ARENA_H
#define ADMITD_POLICY_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/check.h"

struct arena_block;
struct arena_guest;

struct arena {
	struct arena_block *head; /* the block that is being filled; older ones hang behind it */
	size_t used;              /* bytes taken from head */
	size_t total;             /* bytes held in all blocks, headers included */
	size_t ceiling;           /* total never grows beyond it */
	struct arena_guest *guests;
	bool failed;
};

/* A piece of text with its length; it need not end in NUL unless its maker says so. NULL bytes = absent. */
struct str {
	const char *bytes;
	size_t len;
};

#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})

/* The caller owns the struct; nothing is allocated before the first piece is asked for. */
void arena_init(struct arena *arena, size_t ceiling);

/* Something that isn't the arena's is released with its pieces, by release or reset: what they point into then lives as long as they do. False, and
 * nothing is taken over, where memory is out.
 */
bool arena_adopt(struct arena *arena, void (*release)(void *what), void *what) MUST_USE;

/* Gives everything back. The arena can be used again. Pieces handed out before are dead. */
void arena_release(struct arena *arena);

/* Forgets every piece but keeps the first block, so that a loop over requests does not allocate again. */
void arena_reset(struct arena *arena);

/* `size` zeroed bytes aligned for any object, or NULL. A size of 0 gives a valid pointer. */
void *arena_alloc(struct arena *arena, size_t size) MUST_USE;

/* `count` zeroed objects of `size` bytes; NULL also when the product overflows. */
void *arena_array(struct arena *arena, size_t count, size_t size) MUST_USE;

/* A copy of `len` bytes followed by a NUL, or NULL. `bytes` may be NULL when len is 0. */
char *arena_copy(struct arena *arena, const char *bytes, size_t len) MUST_USE;

/* The same as a str; its bytes are NULL when the copy failed. An absent str stays absent. */
struct str arena_str(struct arena *arena, struct str text) MUST_USE;

/* printf into the arena; bytes are NULL when memory ran out. */
struct str arena_printf(struct arena *arena, const char *format, ...) MUST_USE __attribute__((format(printf, 2, 3)));

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, count, type) ((type *)arena_array((arena), (count), sizeof(type)))

/* Equality by bytes. Two absent strings are equal; an absent one never equals an empty one. */
bool str_equal(struct str a, struct str b);
bool str_is(struct str a, const char *literal);

/* Byte-wise order, as chapter 1.9 wants it: a prefix comes first. Both must be present. */
int str_compare(struct str a, struct str b);

#endif
