/* Any bytes through the redactor for texts of many lines: lines stay, the second time changes nothing, no control character is left. */
#include "policy/check.h"
#include "policy/cleanup.h"
#include "policy/redact.h"
#include "policy/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count_feeds(struct str text)
{
	size_t feeds = 0;

	for (size_t i = 0; i < text.len; i++)
		feeds += text.bytes[i] == '\n';
	return feeds;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf once CLEANUP(buf_release) = {0}, twice CLEANUP(buf_release) = {0};
	struct str text = {(const char *)data, size};
	struct redact_report report;

	buf_init(&once, SIZE_MAX / 4);
	buf_init(&twice, SIZE_MAX / 4);
	CHECK(redact_body(text, &once, &report) == 0);
	CHECK(count_feeds(buf_str(&once)) == count_feeds(text));
	for (size_t at = 0; at < once.len;) {
		uint32_t code_point = text_next(buf_str(&once), &at);

		CHECK(code_point != TEXT_INVALID && (!text_is_control(code_point) || text_is_space(code_point)));
	}
	CHECK(redact_body(buf_str(&once), &twice, &report) == 0);
	CHECK(str_equal(buf_str(&once), buf_str(&twice)));
	return 0;
}
