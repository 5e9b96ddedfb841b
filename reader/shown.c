#include "reader/shown.h"

#include "reader/name.h"

static void item(struct json_out *out, struct buf *scratch)
{
	if (buf_error(scratch) != 0)
		buf_fail(out->buf, buf_error(scratch));
	json_out_str(out, buf_str(scratch));
}

void shown_name_item(struct json_out *out, struct buf *scratch, struct str name)
{
	buf_reset(scratch);
	name_show(scratch, name);
	item(out, scratch);
}

void shown_name(struct json_out *out, struct buf *scratch, const char *key, struct str name)
{
	json_out_key(out, key);
	shown_name_item(out, scratch, name);
}

bool shown_text(struct json_out *out, struct buf *scratch, const char *key, struct str text)
{
	json_out_key(out, key);
	if (name_is_plain_text(text)) {
		json_out_str(out, text);
		return true;
	}
	buf_reset(scratch);
	name_show_text(scratch, text);
	item(out, scratch);
	return false;
}
