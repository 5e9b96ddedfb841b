/* time_text.h - times as chapter 4 writes them: RFC 3339 UTC with milliseconds. Pure, any thread.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_TIME_TEXT_H
#define ADMITD_DAEMON_LIFECYCLE_TIME_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/arena.h"
#include "policy/json_out.h"

enum { TIME_TEXT_SIZE = 25 }; /* "2026-11-30T09:00:02.114Z" and a NUL */

/* `at` in milliseconds since 1970, of the years 1970 to 9999. */
void time_text_write(int64_t at, char ret_text[static TIME_TEXT_SIZE]);
/* The same in an arena; absent for 0, and when memory ran out. */
struct str time_text(struct arena *arena, int64_t at);
/* For sentences: "09:04 UTC", or "30 Nov 09:04 UTC" when that isn't the day of `now`. Absent for 0. */
struct str time_text_clock(struct arena *arena, int64_t at, int64_t now);
/* For sentences, how long ago or from now: "12 s", "5 min", "3 h", "2 d". */
struct str time_text_age(struct arena *arena, int64_t span_ms);

/* A date-time of RFC 3339 with any zone; finer fractions are cut. False: it isn't one, or lies outside 1970 to 9999. */
bool time_text_read(struct str text, int64_t *ret_at);

/* A member; 0 is null. */
void time_text_member(struct json_out *out, const char *key, int64_t at);

#endif
