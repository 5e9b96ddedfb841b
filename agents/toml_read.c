#include "agents/toml_read.h"

#include <errno.h>
#include <stdlib.h>

#include "agents/toml_value.h"
#include "policy/cleanup.h"

/* How a table or an array came to be, which says who may still add to it. */
enum how {
	HOW_FIXED = 0, /* within a value: nobody */
	HOW_IMPLIED,   /* stands in the header of one below it */
	HOW_HEADER,    /* has a header of its own */
	HOW_DOTTED,    /* by a dotted key */
	HOW_ARRAY,     /* an array of tables, by [[…]] */
};

struct toml_note {
	const json_t *value;
	enum how how;
};

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

static const char not_toml[] = "this isn't TOML";
static const char given_twice[] = "a key or table that is there already";
static const char extended[] = "a key below something that can't have any";

/* ---- how things came to be */

static struct toml_note *note_of(const struct toml_reading *reading, const json_t *value)
{
	for (size_t i = reading->note_count; i > 0; i--)
		if (reading->notes[i - 1].value == value)
			return &reading->notes[i - 1];
	return NULL;
}

static enum how how_of(const struct toml_reading *reading, const json_t *value)
{
	const struct toml_note *note = note_of(reading, value);

	return note == NULL ? HOW_FIXED : note->how;
}

static int note(struct toml_reading *reading, const json_t *value, enum how how)
{
	if (reading->note_count == TOML_READ_TABLES_LIMIT)
		return toml_refuse(reading, "too many tables");
	reading->notes[reading->note_count++] = (struct toml_note){value, how};
	return 0;
}

static json_t *find(const json_t *table, const struct buf *key)
{
	return json_object_getn(table, buf_str(key).bytes, key->len);
}

static int set(json_t *table, const struct buf *key, json_t *value)
{
	return value == NULL || json_object_setn_new_nocheck(table, buf_str(key).bytes, key->len, value) != 0 ? -ENOMEM
													      : 0;
}

/* A new table at `key`; *ret is borrowed. */
static int add_table(struct toml_reading *reading, json_t *table, const struct buf *key, enum how how, json_t **ret)
{
	int r = set(table, key, json_object());

	if (r != 0)
		return r;
	*ret = find(table, key);
	return note(reading, *ret, how);
}

/* ---- keys */

/* One part of a dotted key; *ret_is_last: no dot follows. */
static int take_part(struct toml_reading *reading, struct buf *ret_key, bool *ret_is_last)
{
	int r;

	buf_reset(ret_key);
	toml_skip_blanks(reading);
	r = toml_take_key(reading, ret_key);
	if (r != 0)
		return r;
	toml_skip_blanks(reading);
	*ret_is_last = !toml_is_at(reading, '.');
	reading->at += !*ret_is_last;
	return 0;
}

/* From `table` one step down; for a header through the last table of an array too. */
static int step(struct toml_reading *reading, json_t *table, const struct buf *key, bool is_header, json_t **ret)
{
	json_t *found = find(table, key);
	enum how how;

	if (found == NULL)
		return add_table(reading, table, key, is_header ? HOW_IMPLIED : HOW_DOTTED, ret);
	how = how_of(reading, found);
	if (is_header && how == HOW_ARRAY)
		found = json_array_get(found, json_array_size(found) - 1);
	else if (!json_is_object(found) || how == HOW_FIXED || (!is_header && how == HOW_HEADER))
		return toml_refuse(reading, extended);
	*ret = found;
	return 0;
}

/* Walks `table` down to where the last part of the key belongs. */
static int take_path(struct toml_reading *reading, json_t *table, bool is_header, struct buf *ret_key, json_t **ret)
{
	bool is_last = false;
	int r = take_part(reading, ret_key, &is_last);

	for (unsigned depth = 0; r == 0 && !is_last; depth++) {
		if (depth == TOML_READ_DEPTH_LIMIT)
			return toml_refuse(reading, "nested too deep");
		r = step(reading, table, ret_key, is_header, &table);
		if (r == 0)
			r = take_part(reading, ret_key, &is_last);
	}
	*ret = table;
	return r;
}

/* ---- values */

static int take_value(struct toml_reading *reading, json_t **ret);

static int take_pair(struct toml_reading *reading, json_t *table)
{
	CLEANUP(buf_drop) struct buf key = {0};
	json_t *value = NULL;
	int r;

	buf_init(&key, TOML_READ_BYTES_LIMIT + 1);
	r = take_path(reading, table, false, &key, &table);
	if (r != 0)
		return r;
	if (find(table, &key) != NULL)
		return toml_refuse(reading, given_twice);
	if (!toml_is_at(reading, '='))
		return toml_refuse(
			reading, reading->at == reading->text.len ? "the file ends within a line" : not_toml);
	reading->at++;
	toml_skip_blanks(reading);
	r = take_value(reading, &value);
	return r == 0 ? set(table, &key, value) : r;
}

/* White space, line ends and comments. */
static int skip_lines(struct toml_reading *reading)
{
	int r = 0;

	do {
		toml_skip_blanks(reading);
		r = toml_skip_comment(reading);
	} while (r == 0 && toml_take_line_end(reading));
	return r;
}

static int take_items(struct toml_reading *reading, json_t *array)
{
	for (;;) {
		json_t *value = NULL;
		int r = skip_lines(reading);

		if (r != 0)
			return r;
		if (toml_is_at(reading, ']'))
			break;
		r = take_value(reading, &value);
		if (r != 0)
			return r;
		if (json_array_append_new(array, value) != 0)
			return -ENOMEM;
		r = skip_lines(reading);
		if (r != 0)
			return r;
		if (toml_is_at(reading, ']'))
			break;
		if (!toml_is_at(reading, ','))
			return toml_refuse(reading, not_toml);
		reading->at++;
	}
	reading->at++;
	return 0;
}

static int take_array(struct toml_reading *reading, json_t **ret)
{
	CLEANUP(json_drop) json_t *array = json_array();
	int r;

	if (array == NULL)
		return -ENOMEM;
	reading->at++;
	r = take_items(reading, array);
	if (r == 0)
		*ret = TAKE(array);
	return r;
}

static int take_pairs(struct toml_reading *reading, json_t *table)
{
	toml_skip_blanks(reading);
	if (toml_is_at(reading, '}')) {
		reading->at++;
		return 0;
	}
	for (;;) {
		int r = take_pair(reading, table);

		if (r != 0)
			return r;
		toml_skip_blanks(reading);
		if (toml_is_at(reading, '}')) {
			reading->at++;
			return 0;
		}
		if (!toml_is_at(reading, ','))
			return toml_refuse(reading, not_toml);
		reading->at++;
	}
}

/* What an inline table holds is settled when it ends: its notes go. */
static int take_inline(struct toml_reading *reading, json_t **ret)
{
	CLEANUP(json_drop) json_t *table = json_object();
	size_t notes = reading->note_count;
	int r;

	if (table == NULL)
		return -ENOMEM;
	reading->at++;
	r = take_pairs(reading, table);
	reading->note_count = notes;
	if (r == 0)
		*ret = TAKE(table);
	return r;
}

static int take_value(struct toml_reading *reading, json_t **ret)
{
	int r;

	if (toml_is_at(reading, '"') || toml_is_at(reading, '\''))
		return toml_take_string(reading, ret);
	if (!toml_is_at(reading, '[') && !toml_is_at(reading, '{'))
		return toml_take_scalar(reading, ret);
	if (reading->depth == TOML_READ_DEPTH_LIMIT)
		return toml_refuse(reading, "nested too deep");
	reading->depth++;
	r = toml_is_at(reading, '[') ? take_array(reading, ret) : take_inline(reading, ret);
	reading->depth--;
	return r;
}

/* ---- headers */

static int open_table(struct toml_reading *reading, json_t *parent, const struct buf *key)
{
	json_t *found = find(parent, key);
	struct toml_note *known = found == NULL ? NULL : note_of(reading, found);

	if (found == NULL)
		return add_table(reading, parent, key, HOW_HEADER, &reading->table);
	if (known == NULL || known->how != HOW_IMPLIED)
		return toml_refuse(reading, given_twice);
	known->how = HOW_HEADER;
	reading->table = found;
	return 0;
}

static int open_item(struct toml_reading *reading, json_t *parent, const struct buf *key)
{
	json_t *array = find(parent, key);
	json_t *table = NULL;
	int r = 0;

	if (array == NULL) {
		r = set(parent, key, json_array());
		if (r != 0)
			return r;
		array = find(parent, key);
		r = note(reading, array, HOW_ARRAY);
	} else if (how_of(reading, array) != HOW_ARRAY) {
		return toml_refuse(reading, given_twice);
	}
	if (r != 0)
		return r;
	table = json_object();
	if (table == NULL || json_array_append_new(array, table) != 0)
		return -ENOMEM;
	reading->table = table;
	return note(reading, table, HOW_HEADER);
}

static int take_header(struct toml_reading *reading, json_t *root)
{
	CLEANUP(buf_drop) struct buf key = {0};
	bool is_item = toml_begins(reading, "[[");
	json_t *parent = NULL;
	int r;

	buf_init(&key, TOML_READ_BYTES_LIMIT + 1);
	reading->at += is_item ? 2 : 1;
	r = take_path(reading, root, true, &key, &parent);
	if (r != 0)
		return r;
	if (!toml_begins(reading, is_item ? "]]" : "]"))
		return toml_refuse(reading, not_toml);
	reading->at += is_item ? 2 : 1;
	return is_item ? open_item(reading, parent, &key) : open_table(reading, parent, &key);
}

/* ---- the whole */

static int take_line(struct toml_reading *reading, json_t *root)
{
	int r = 0;

	toml_skip_blanks(reading);
	if (toml_is_at(reading, '['))
		r = take_header(reading, root);
	else if (reading->at < reading->text.len && !toml_is_at(reading, '#') && !toml_is_at(reading, '\n') &&
		!toml_begins(reading, "\r\n"))
		r = take_pair(reading, reading->table);
	if (r != 0)
		return r;
	toml_skip_blanks(reading);
	r = toml_skip_comment(reading);
	if (r != 0)
		return r;
	return toml_take_line_end(reading) || reading->at == reading->text.len ? 0 : toml_refuse(reading, not_toml);
}

static int take_lines(struct toml_reading *reading, json_t *root)
{
	int r = 0;

	if (reading->text.len > TOML_READ_BYTES_LIMIT)
		return toml_refuse(reading, "the file is too large");
	if (toml_begins(reading, "\xef\xbb\xbf") || toml_begins(reading, "\xff\xfe") ||
		toml_begins(reading, "\xfe\xff"))
		return toml_refuse(reading, "a byte-order mark");
	while (r == 0 && reading->at < reading->text.len)
		r = take_line(reading, root);
	return r;
}

static void place(const struct toml_reading *reading, struct toml_read_fault *fault)
{
	*fault = (struct toml_read_fault){.words = reading->words, .line = 1, .column = 1};
	for (size_t i = 0; i < reading->at; i++) {
		fault->column++;
		if (reading->text.bytes[i] == '\n') {
			fault->line++;
			fault->column = 1;
		}
	}
}

int toml_read(struct str text, json_t **ret, struct toml_read_fault *ret_fault)
{
	CLEANUP(json_drop) json_t *root = json_object();
	CLEANUP(free_drop) struct toml_note *notes = calloc(TOML_READ_TABLES_LIMIT, sizeof(*notes));
	struct toml_reading reading = {.text = text, .words = not_toml, .table = root, .notes = notes};
	int r;

	if (root == NULL || notes == NULL)
		return -ENOMEM;
	r = take_lines(&reading, root);
	if (r == TOML_READ_REFUSED)
		place(&reading, ret_fault);
	if (r == 0)
		*ret = TAKE(root);
	return r;
}
