#include "daemon/store/sql.h"

#include <string.h>

static void add(struct sql_select *select, const char *text)
{
	size_t len = strlen(text);

	CHECK(len < sizeof(select->text) - select->len);
	memcpy(select->text + select->len, text, len + 1);
	select->len += len;
}

static void add_value(struct sql_select *select, struct str text, int64_t number)
{
	CHECK(select->value_count < sizeof(select->values) / sizeof(select->values[0]));
	select->values[select->value_count++] = (struct sql_select_value){text, number};
}

void sql_select_init(struct sql_select *select, const char *text)
{
	select->len = 0;
	select->conditions = 0;
	select->value_count = 0;
	add(select, text);
}

void sql_select_where_always(struct sql_select *select, const char *condition)
{
	add(select, select->conditions++ ? " AND " : " WHERE ");
	add(select, condition);
}

void sql_select_where(struct sql_select *select, const char *condition, struct str value)
{
	if (!value.bytes)
		return;
	sql_select_where_always(select, condition);
	add_value(select, value, 0);
}

void sql_select_where_int(struct sql_select *select, const char *condition, int64_t value)
{
	sql_select_where_always(select, condition);
	add_value(select, (struct str){0}, value);
}

void sql_select_where_in(struct sql_select *select, const char *column, struct str json_ids)
{
	if (!json_ids.bytes)
		return;
	sql_select_where_always(select, column);
	add(select, " IN (SELECT value FROM json_each(?))");
	add_value(select, json_ids, 0);
}

void sql_select_finish(struct sql_select *select, const char *text)
{
	add(select, text);
}

struct sql sql_select_begin(struct store_tx *tx, const struct sql_select *select)
{
	struct sql query = sql_begin(tx, select->text);

	for (size_t i = 0; i < select->value_count; i++) {
		if (select->values[i].text.bytes)
			sql_bind_str(&query, select->values[i].text);
		else
			sql_bind_int(&query, select->values[i].number);
	}
	return query;
}

int64_t sql_before(int64_t before)
{
	return before > 0 ? before : INT64_MAX;
}

int64_t sql_limit(size_t limit)
{
	return limit > INT64_MAX ? INT64_MAX : (int64_t)limit;
}
