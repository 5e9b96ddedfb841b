#include "daemon/main_offline.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/audit/audit_file.h"
#include "daemon/lifecycle/time_text.h"
#include "daemon/log.h"
#include "policy/cleanup.h"

enum { EXIT_UNCHECKED = 2, VERDICT_BYTES = 256 * 1024 };

int main_offline_key(const struct options *options)
{
	char text[AUDIT_PUBLIC_SIZE];
	struct audit_key key;
	int r = audit_key_make(options->file, &key);

	if (r != 0) {
		log_line(LOG_LINE_ERROR, "audit", "%s: %s", options->file,
			r == -EEXIST ? "it, or the file with .pub beside it, is there already" : strerrordesc_np(-r));
		return EXIT_FAILURE;
	}
	audit_key_wipe(&key);
	audit_key_text(&key, text);
	(void)printf("key %s is in %s: give admitd [audit] key_file = %s, and let nobody else read it\n"
		     "public key (for who checks the log), also in %s.pub: %s\n",
		key.id, options->file, options->file, options->file, text);
	return 0;
}

/* ---- the check */

static int fail(const char *what, int result)
{
	log_line(LOG_LINE_ERROR, "audit", "%s: %s", what,
		result < 0                               ? strerrordesc_np(-result)
			: result == STORE_NEWER          ? "it was written by a newer admitd"
			: result == STORE_FOREIGN        ? "it is not admitd's database"
			: result == STORE_NOT_A_DATABASE ? "it is damaged beyond checking, or no database at all"
							 : "it can't be opened");
	return EXIT_UNCHECKED;
}

static int take_keys(const struct options *options, struct audit_trust *trust)
{
	for (size_t i = 0; i < options->key_count; i++) {
		struct audit_key key;
		int r = audit_key_public(options->keys[i], &key);

		if (r == 0 && audit_trust_add(trust, &key))
			continue;
		log_line(LOG_LINE_ERROR, "audit",
			"--key %s: it is neither 64 hexadecimal digits nor a file with a public key", options->keys[i]);
		return EXIT_UNCHECKED;
	}
	return 0;
}

static void print_warnings(const struct audit_verdict *verdict)
{
	if (!verdict->has_key)
		(void)puts("WARNING: NO SIGNATURE WAS CHECKED: whoever holds the file could have written all of it "
			   "anew; give --key");
	else if (!verdict->is_signed)
		(void)puts("WARNING: the last checkpoint is not signed by a key that is believed");
	if (!verdict->has_export)
		(void)puts("WARNING: NO EXPORTED CHECKPOINT WAS COMPARED: a tail that was cut with its checkpoints "
			   "can't be seen; "
			   "give --export");
}

static void print_text(const struct audit_verdict *verdict)
{
	char at[TIME_TEXT_SIZE];

	for (size_t i = 0; i < verdict->fault_count; i++)
		(void)printf("%s: %s\n", audit_fault_kind_text(verdict->faults[i].kind), verdict->faults[i].text);
	time_text_write(verdict->sealed_at, at);
	(void)printf("%s: rows %lld to %lld, %llu records, %llu checkpoints (%llu signed, %llu exported), sealed "
		     "through %lld%s%s\n",
		verdict->fault_count == 0 ? "sound" : "NOT SOUND", (long long)verdict->first,
		(long long)verdict->head.sequence, (unsigned long long)verdict->records,
		(unsigned long long)verdict->checkpoints, (unsigned long long)verdict->signed_checkpoints,
		(unsigned long long)verdict->exported_checkpoints, (long long)verdict->sealed,
		verdict->sealed_at != 0 ? " at " : "", verdict->sealed_at != 0 ? at : "");
	print_warnings(verdict);
}

static int print_json(const struct audit_verdict *verdict)
{
	CLEANUP(buf_release) struct buf buf = {0};
	struct json_out out;

	buf_init(&buf, VERDICT_BYTES);
	json_out_init(&out, &buf);
	json_out_begin_object(&out);
	audit_verdict_write(verdict, &out);
	json_out_end_object(&out);
	if (buf_error(&buf) != 0)
		return fail("the verdict", buf_error(&buf));
	(void)printf("%s\n", buf.bytes);
	return 0;
}

static int check_file(
	const char *path, const char *exported, const struct audit_trust *trust, struct audit_verdict *verdict)
{
	CLEANUP(store_drop) struct store *store = NULL;
	struct audit_verify verify = {.trust = trust, .exported = exported};
	int r = store_open_file(path, &store);

	if (r != 0)
		return fail(path, r);
	verify.store = store;
	r = audit_verify_store(&verify, verdict);
	return r != 0 ? fail(path, r) : 0;
}

static int check_state(
	const char *state, const char *exported, const struct audit_trust *trust, struct audit_verdict *verdict)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", state, STORE_FILE);
	return check_file(path, exported, trust, verdict);
}

static int check(const struct options *options, const struct config *config, const struct audit_trust *trust,
	const char *state, struct audit_verdict *verdict)
{
	const char *folder = config->audit.export_folder;
	const char *exported = options->exported;
	char path[PATH_MAX];
	bool is_store = options->store != NULL || options->state != NULL || options->config != NULL;
	int r = 0;

	if (!is_store && exported != NULL) {
		r = audit_verify_lines(exported, trust, verdict);
		return r != 0 ? fail(exported, r) : 0;
	}
	if (exported == NULL && folder != NULL) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, AUDIT_FILE_CHECKPOINTS);
		exported = path;
	}
	if (options->store != NULL)
		return check_file(options->store, exported, trust, verdict);
	return check_state(state, exported, trust, verdict);
}

int main_offline_verify(
	const struct options *options, const struct config *config, struct main_audit *audit, const char *state)
{
	CLEANUP(free_drop) struct audit_verdict *verdict = calloc(1, sizeof(*verdict));
	int r = take_keys(options, &audit->trust);

	if (verdict == NULL)
		return fail("memory", -ENOMEM);
	if (r == 0)
		r = check(options, config, &audit->trust, state, verdict);
	if (r != 0)
		return r;
	if (options->is_json)
		r = print_json(verdict);
	else
		print_text(verdict);
	return r != 0 ? r : verdict->fault_count == 0 ? 0 : EXIT_UNSOUND;
}
