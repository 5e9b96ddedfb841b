/* What vouches for the log: records that its rows name, checkpoints, trims, epochs, and the copy of the whole store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/store/audit.h"
#include "daemon/store/grant.h"
#include "tests/lib/store_fixture.h"

static struct store_grant grant_row(void)
{
	return (struct store_grant){.id = STR("grt_1"),
		.project = STR("p"),
		.package = STR("pkg_a"),
		.decision = STORE_GRANT_APPROVED,
		.capabilities_json = STR("[\"filesystem.project.read\"]"),
		.dropped_json = STR("[]"),
		.root_revision = 1,
		.actor = {STR("tok_a"), STR("approver")},
		.at = 5};
}

static int tell_grant(struct store_tx *tx)
{
	struct store_event event = {.type = STR("grant.recorded"),
		.subject_kind = STR("grant"),
		.subject_id = STR("grt_1"),
		.project = STR("p"),
		.package = STR("pkg_a"),
		.at = 5,
		.payload_json = STR("{}")};
	int r = store_event_append(tx, &event);

	return r ? r : event.has_record ? 0 : -EPROTO;
}

static int record_grant(struct store_tx *tx, void *arg)
{
	struct store_grant row = grant_row();
	int r = store_grant_append(tx, &row, 0);

	(void)arg;
	return r ? r : tell_grant(tx);
}

static int record_grant_silently(struct store_tx *tx, void *arg)
{
	struct store_grant row = grant_row();

	(void)arg;
	return store_grant_append(tx, &row, 0);
}

/* What somebody with the file does to it, while no daemon has it. */
static void tamper(struct store_fixture *fixture, const char *text)
{
	sqlite3 *db = NULL;

	store_close(fixture->store);
	fixture->store = NULL;
	assert_int_equal(sqlite3_open(store_fixture_path(fixture, "admitd.db"), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	assert_int_equal(store_fixture_reopen(fixture), 0);
}

static int verify_log(struct store_tx *tx, void *arg)
{
	struct store_chain *chain = arg;
	int r = store_audit_anchor(tx, chain);

	while (r == 0 && !chain->is_at_end)
		r = store_event_verify(tx, chain, 2);
	return r;
}

struct checked {
	struct store_audit_walk walk;
	enum store_audit_part until;
	char id[64];
	int64_t sequence;
};

static int check_records(struct store_tx *tx, void *arg)
{
	struct checked *checked = arg;
	struct str id = {0};
	int r = 0;

	while (r == 0 && checked->walk.part < checked->until)
		r = store_audit_check(tx, &checked->walk, 2, &id, &checked->sequence);
	if (r == STORE_RECORD_CHANGED && id.len < sizeof(checked->id))
		memcpy(checked->id, id.bytes, id.len);
	return r;
}

static void a_grant_changed_in_the_file_is_found_by_the_row_that_names_it(void **state)
{
	struct store_fixture *fixture = *state;
	struct store_chain chain = {0};

	store_fixture_run(state, record_grant);
	assert_int_equal(store_fixture_read(fixture, verify_log, &chain), 0);
	assert_int_equal(chain.sequence, 1);
	tamper(fixture, "DROP TRIGGER grants_keep; UPDATE grants SET reason = 'really'");
	assert_int_equal(store_fixture_read(fixture, verify_log, &chain), STORE_RECORD_CHANGED);
	assert_int_equal(chain.sequence, 1);
}

static void a_grant_that_no_row_names_is_found(void **state)
{
	struct store_fixture *fixture = *state;
	struct checked checked = {.until = STORE_AUDIT_TOKENS};

	store_fixture_run(state, record_grant_silently);
	assert_int_equal(store_fixture_read(fixture, check_records, &checked), STORE_RECORD_CHANGED);
	assert_string_equal(checked.id, "grt_1");
	assert_int_equal(checked.sequence, 0);
}

static int seal(struct store_tx *tx, void *arg)
{
	struct store_checkpoint row = {0};
	int r = store_checkpoint_draft(tx, &row);

	if (r)
		return r;
	row.at = *(int64_t *)arg;
	return store_checkpoint_append(tx, &row);
}

static int read_last(struct store_tx *tx, void *arg)
{
	return store_checkpoint_last(tx, arg);
}

static void a_checkpoint_is_made_once_for_a_head(void **state)
{
	struct store_fixture *fixture = *state;
	struct store_checkpoint last;
	int64_t at = 10;

	assert_int_equal(store_fixture_write(fixture, seal, &at), STORE_ABSENT); /* there is no row */
	store_fixture_run(state, record_grant);
	assert_int_equal(store_fixture_write(fixture, seal, &at), 0);
	assert_int_equal(store_fixture_write(fixture, seal, &at), STORE_ABSENT);
	assert_int_equal(store_fixture_read(fixture, read_last, &last), 0);
	assert_int_equal(last.number, 1);
	assert_int_equal(last.epoch, 1);
	assert_int_equal(last.sequence, 1);
	assert_null(last.key_id.bytes);
}

struct trimming {
	int64_t before;
	struct store_segment segment;
};

static int trim(struct store_tx *tx, void *arg)
{
	struct trimming *trimming = arg;
	int r = store_audit_oldest(tx, trimming->before, &trimming->segment);

	return r ? r : store_audit_trim(tx, &trimming->segment, 99);
}

static void append_and_seal(struct store_fixture *fixture, const char *subject, int64_t at)
{
	assert_int_equal(store_fixture_write(fixture, store_fixture_append_event, (void *)(uintptr_t)subject), 0);
	assert_int_equal(store_fixture_write(fixture, seal, &at), 0);
}

/* Rows: 1 the grant and 2 (checkpoint at 10), 3 (at 20), 4 (at 30); then what the trims tell. */
static void fill(void **state)
{
	struct store_fixture *fixture = *state;

	store_fixture_run(state, record_grant);
	append_and_seal(fixture, "a", 10);
	append_and_seal(fixture, "b", 20);
	append_and_seal(fixture, "c", 30);
}

static void a_trim_takes_whole_segments_and_leaves_a_sound_chain(void **state)
{
	struct store_fixture *fixture = *state;
	struct trimming trimming = {.before = 10};
	struct store_chain chain = {0};
	struct checked checked = {.until = STORE_AUDIT_DECISIONS};

	fill(state);
	assert_int_equal(store_fixture_write(fixture, trim, &trimming), STORE_ABSENT);
	trimming.before = 1000;
	assert_int_equal(store_fixture_write(fixture, trim, &trimming), 0);
	assert_int_equal(trimming.segment.after, 0);
	assert_int_equal(trimming.segment.through, 2);
	assert_int_equal(store_fixture_write(fixture, trim, &trimming), 0);
	assert_int_equal(store_fixture_write(fixture, trim, &trimming), STORE_ABSENT); /* the newest stays */
	assert_int_equal(store_fixture_read(fixture, verify_log, &chain), 0);
	assert_int_equal(chain.sequence, 6);
	assert_int_equal(store_fixture_read(fixture, check_records, &checked), 0);
	assert_int_equal(store_fixture_reopen(fixture), 0);
	assert_int_equal(store_fixture_write(fixture, store_fixture_append_event, (void *)(uintptr_t) "d"), 0);
	assert_int_equal(store_fixture_read(fixture, verify_log, &chain), 0);
	assert_int_equal(chain.sequence, 7);
}

static void what_trimmed_rows_named_stays_bound(void **state)
{
	struct store_fixture *fixture = *state;
	struct trimming trimming = {.before = 15};
	struct checked checked = {.until = STORE_AUDIT_DECISIONS};

	fill(state);
	assert_int_equal(store_fixture_write(fixture, trim, &trimming), 0);
	tamper(fixture, "DROP TRIGGER grants_keep; UPDATE grants SET reason = 'really'");
	assert_int_equal(store_fixture_read(fixture, check_records, &checked), STORE_RECORD_CHANGED);
	assert_int_equal(checked.walk.part, STORE_AUDIT_TRIMS);
	assert_int_equal(checked.sequence, 1);
}

static void a_trim_that_nobody_made_is_found(void **state)
{
	struct store_fixture *fixture = *state;
	struct store_chain chain = {0};
	struct checked checked = {.until = STORE_AUDIT_DECISIONS};

	fill(state);
	tamper(fixture,
		"INSERT INTO audit_trims (through, after, digest, at) VALUES (2, 0, zeroblob(32), 40); DELETE FROM "
		"events "
		"WHERE sequence <= 2");
	assert_int_equal(store_fixture_read(fixture, verify_log, &chain), 0); /* the chain alone can't tell */
	assert_int_equal(store_fixture_read(fixture, check_records, &checked), STORE_RECORD_CHANGED);
	assert_string_equal(checked.id, "grt_1");
}

static void rows_without_a_trim_can_not_be_deleted(void **state)
{
	struct store_fixture *fixture = *state;
	sqlite3 *db = NULL;

	fill(state);
	assert_int_equal(sqlite3_open(store_fixture_path(fixture, "admitd.db"), &db), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(db, "DELETE FROM events WHERE sequence = 1", NULL, NULL, NULL), SQLITE_CONSTRAINT);
	assert_int_equal(sqlite3_exec(db, "DELETE FROM audit_checkpoints", NULL, NULL, NULL), SQLITE_CONSTRAINT);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static int open_epoch(struct store_tx *tx, void *arg)
{
	return store_epoch_open(tx, arg);
}

static void an_epoch_goes_on_behind_the_head(void **state)
{
	struct store_fixture *fixture = *state;
	struct store_epoch epoch = {.replaced = {.sequence = 90}, .at = 50};
	struct store_checkpoint last;

	fill(state);
	assert_int_equal(store_fixture_write(fixture, open_epoch, &epoch), 0);
	assert_int_equal(epoch.epoch, 2);
	assert_int_equal(epoch.from.sequence, 4);
	append_and_seal(fixture, "d", 60);
	assert_int_equal(store_fixture_read(fixture, read_last, &last), 0);
	assert_int_equal(last.epoch, 2);
	assert_int_equal(last.number, 4);
}

/* ---- the copy */

static void *keep_writing(void *arg)
{
	static int failed;
	struct store_fixture *fixture = arg;

	for (unsigned i = 0; i < 200; i++)
		failed |= store_fixture_submit(fixture, store_fixture_append_event, (void *)(uintptr_t) "load");
	return failed ? &failed : NULL;
}

static void write_copy(struct store_fixture *fixture, int fd, int64_t bytes)
{
	FILE *file = fopen(store_fixture_path(fixture, "copy.db"), "w");
	char piece[4096];

	assert_non_null(file);
	for (int64_t at = 0; at < bytes; at += (int64_t)sizeof(piece)) {
		assert_int_equal(pread(fd, piece, sizeof(piece), at), sizeof(piece));
		assert_int_equal(fwrite(piece, 1, sizeof(piece), file), sizeof(piece));
	}
	assert_int_equal(fclose(file), 0);
}

static void a_copy_made_under_load_is_whole_and_leaves_nothing_behind(void **state)
{
	struct store_fixture *fixture = *state;
	struct store *copy = NULL;
	struct store_chain chain = {0};
	pthread_t writer;
	void *failed = NULL;
	int64_t bytes = 0;
	int fd = -1;

	fill(state);
	assert_int_equal(pthread_create(&writer, NULL, keep_writing, fixture), 0);
	assert_int_equal(store_backup(fixture->store, &fd, &bytes), 0);
	assert_int_equal(pthread_join(writer, &failed), 0);
	assert_null(failed);
	store_fixture_wait(fixture, 200);
	assert_true(access(store_fixture_path(fixture, "admitd.db.backup"), F_OK) != 0);
	write_copy(fixture, fd, bytes);
	assert_int_equal(close(fd), 0);
	assert_int_equal(store_open_file(store_fixture_path(fixture, "copy.db"), &copy), 0);
	assert_memory_equal(store_identity(copy).bytes, store_identity(fixture->store).bytes, 32);
	arena_reset(&fixture->arena);
	assert_int_equal(store_read(copy, &fixture->arena, verify_log, &chain), 0);
	assert_true(chain.sequence >= 4 && chain.sequence <= 204);
	store_close(copy);
	assert_true(access(store_fixture_path(fixture, "copy.db-wal"), F_OK) != 0);
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, store_fixture_setup, store_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_STORE(a_grant_changed_in_the_file_is_found_by_the_row_that_names_it),
		WITH_STORE(a_grant_that_no_row_names_is_found),
		WITH_STORE(a_checkpoint_is_made_once_for_a_head),
		WITH_STORE(a_trim_takes_whole_segments_and_leaves_a_sound_chain),
		WITH_STORE(what_trimmed_rows_named_stays_bound),
		WITH_STORE(a_trim_that_nobody_made_is_found),
		WITH_STORE(rows_without_a_trim_can_not_be_deleted),
		WITH_STORE(an_epoch_goes_on_behind_the_head),
		WITH_STORE(a_copy_made_under_load_is_whole_and_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
