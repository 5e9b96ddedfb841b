/* The redactor is linear on hostile input (chapter 1.10): four times the text takes about four times as long. Only
 * the ratio of two runs on this machine is looked at, never a time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "policy/cleanup.h"
#include "policy/redact.h"

enum { SMALL = 256 * 1024, LARGE = 1024 * 1024, RUNS = 5 };

/* Growth that four times the text may show; a quadratic walk shows sixteen. */
#define GROWTH_LIMIT 6.0

/* Each is repeated to fill the text: what begins something and never ends it, or ends it again and again. */
static const char *const shapes[] = {
	"a",
	"a-",
	"token=",
	"token=\"",
	"token=\\\"",
	"token='\"",
	"token=[",
	"token=[}",
	"\"token=",
	"passphrase=",
	"bearer ",
	"bearer=",
	"basic \\",
	"://",
	"//a:b",
	"://a:b/",
	"://u@",
	"-",
	"-----BEGIN ",
	"-----BEGIN PRIVATE KEY-----",
	"-----END PRIVATE KEY-----",
	"ghp_",
	"github_pat_",
	"eyJ-",
	"eyJa.",
	"sk-",
	"AKIA",
	"AIza",
	"glft-",
	"machine a ",
	"login a password ",
	"a:12:b:c:",
	"a:",
	"--a ",
	"--token ",
	"-e A=",
	"\\\"",
	"\"",
	"\033]",
	"\033[",
	"\033[1;",
	"\xE2\x80\xAE",
	"\xFF",
	" ",
	"\n",
	"api key ",
	"tokentoken",
	"authorization: bearer ",
	"Cookie: a=b; ",
	"jdbc:a:",
	"token=\\\\\\\"\\\"",
	"${A}",
	"*",
};

static double thread_seconds(void)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static char *repeated(const char *shape, size_t len)
{
	size_t unit = strlen(shape);
	char *text = malloc(len);

	assert_non_null(text);
	for (size_t i = 0; i < len; i++)
		text[i] = shape[i % unit];
	return text;
}

/* One run; a text of a mebibyte must not meet a limit either. */
static double seconds_of(struct str text)
{
	struct buf out CLEANUP(buf_release) = {0};
	struct redact_report report;
	double begin = thread_seconds(), end;

	buf_init(&out, SIZE_MAX / 4);
	assert_int_equal(redact_text(text, REDACT_FIELD, &out, &report), 0);
	end = thread_seconds();
	assert_int_equal(report.counts[REDACT_OVER_LIMIT], 0);
	return end - begin;
}

/* The least of some ratios: another process can only make a run slower. */
static double growth_of(const char *shape)
{
	CLEANUP(free_drop) char *text = repeated(shape, LARGE);
	double small = seconds_of((struct str){text, SMALL}), large = seconds_of((struct str){text, LARGE});

	for (int i = 0; i < RUNS && large > GROWTH_LIMIT * small; i++) {
		double again = seconds_of((struct str){text, LARGE});

		large = again < large ? again : large;
	}
	return large / small;
}

static void four_times_the_hostile_text_takes_about_four_times_as_long(void **state)
{
	(void)state;
	assert_int_equal(redact_init(), 0);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		double growth = growth_of(shapes[i]);

		if (growth > GROWTH_LIMIT)
			fail_msg("%s grows by %.1f", shapes[i], growth);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_times_the_hostile_text_takes_about_four_times_as_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
