/* fold_table.h - what fold.c looks up; for it alone. Made by tests/reader/fold_maker.py.
 */
#ifndef ADMITD_READER_FOLD_TABLE_H
#define ADMITD_READER_FOLD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Characters beyond ASCII that words are made of: from the first up to the second, from the third up to the fourth, and so on. */
extern const uint32_t fold_edges[];
extern const size_t fold_edge_count;

/* Accents that stand behind their letter. */
extern const uint32_t fold_marks[];
extern const size_t fold_mark_count;

/* `count` characters from `first` on, each `step` behind the one before. The first becomes `to`; the others become the same or, where the run
 * `moves`, as much further. */
struct fold_run {
	uint32_t first;
	uint16_t count;
	uint16_t step;
	uint32_t to;
	bool moves;
};
extern const struct fold_run fold_runs[]; /* sorted */
extern const size_t fold_run_count;

#endif
