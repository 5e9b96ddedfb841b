/* figure.h - what the benches share: the clock, and a ratio over several rounds with its goal (chapter 6.1). Header-only. */
#ifndef ADMITD_TESTS_BENCH_FIGURE_H
#define ADMITD_TESTS_BENCH_FIGURE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FIGURE_ROUNDS = 9 };

struct figure {
	const char *name;
	double values[FIGURE_ROUNDS];
	double goal;
	double bound; /* what fails */
};

/* Time of the processor, which a busy machine stretches less than the clock on the wall. */
static inline double figure_cpu_ms(void)
{
	struct timespec at;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
	return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

static inline int figure_by_value(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;

	return (left > right) - (left < right);
}

/* One member of the bench's object, and `end` behind it. False where the median is beyond the bound. */
static inline bool figure_print(struct figure *figure, const char *end)
{
	double *values = figure->values;

	qsort(values, FIGURE_ROUNDS, sizeof(*values), figure_by_value);
	printf("  \"%s\": {\"median\": %.3f, \"min\": %.3f, \"max\": %.3f, \"goal\": %.2f, \"failsAbove\": %.2f}%s\n",
		figure->name, values[FIGURE_ROUNDS / 2], values[0], values[FIGURE_ROUNDS - 1], figure->goal,
		figure->bound, end);
	return values[FIGURE_ROUNDS / 2] <= figure->bound;
}

#endif
