/* cleanup.h - owning locals release themselves at the end of their scope (chapter 3.3: no goto).
 *
 *   CLEANUP(json_drop) json_t *root = json_loadb(...);
 *
 * A cleanup function takes a pointer to the variable and accepts one that holds NULL. To let ownership
 * leave, hand it over with TAKE(), which leaves NULL behind.
 */
#ifndef ADMITD_POLICY_CLEANUP_H
#define ADMITD_POLICY_CLEANUP_H

#include <jansson.h>
#include <stdlib.h>

#define CLEANUP(function) __attribute__((cleanup(function)))

#define TAKE(pointer)                               \
	__extension__({                             \
		__auto_type take_value = (pointer); \
		(pointer) = NULL;                   \
		take_value;                         \
	})

/* For memory from malloc: CLEANUP(free_drop) char *text = …; */
static inline void free_drop(void *pointer)
{
	void **owner = pointer;

	free(*owner);
	*owner = NULL;
}

static inline void json_drop(json_t **value)
{
	json_decref(*value);
	*value = NULL;
}

#endif
