/* Any bytes through the redactor: what comes out obeys redact.h. The first byte chooses the cap. */
#include <string.h>

#include "policy/check.h"
#include "policy/cleanup.h"
#include "policy/redact.h"
#include "policy/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Valid, on one line, folded, without control characters, not longer than the cap. */
static void check_form(struct str text, size_t cap)
{
	size_t count = 0, at = 0;
	bool is_after_blank = true;

	while (at < text.len) {
		uint32_t code_point = text_next(text, &at);

		CHECK(code_point != TEXT_INVALID && !text_is_control(code_point));
		CHECK(!text_is_space(code_point) || (code_point == ' ' && !is_after_blank));
		is_after_blank = code_point == ' ';
		count++;
	}
	CHECK(count <= cap);
	CHECK(text.len == 0 || !is_after_blank);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t caps[] = {REDACT_UNCAPPED, REDACT_FIELD, REDACT_LABEL, 7};
	struct buf once CLEANUP(buf_release) = {0}, twice CLEANUP(buf_release) = {0};
	struct str text;
	size_t cap;

	if (size == 0)
		return 0;
	cap = caps[data[0] % 4];
	text = (struct str){(const char *)data + 1, size - 1};
	buf_init(&once, SIZE_MAX / 4);
	buf_init(&twice, SIZE_MAX / 4);
	CHECK(redact_text(text, cap, &once, NULL) == 0);
	check_form(buf_str(&once), cap);
	CHECK(!redact_finds_secret(buf_str(&once)));
	CHECK(redact_text(buf_str(&once), cap, &twice, NULL) == 0);
	CHECK(str_equal(buf_str(&once), buf_str(&twice)));
	return 0;
}
