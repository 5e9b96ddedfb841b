#include "daemon/main_audit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/audit/audit_file.h"
#include "daemon/log.h"
#include "policy/cleanup.h"

static const char *key_fault(int result)
{
	switch (result) {
	case AUDIT_KEY_DAMAGED:
		return "it is no key; make one with admitd audit-key";
	case AUDIT_KEY_OPEN_TO_OTHERS:
		return "others can read it; chmod 600 it";
	case AUDIT_KEY_ABSENT:
		return "there is none; make one with admitd audit-key";
	default:
		return strerrordesc_np(-result);
	}
}

static int refuse_key(const char *room, const char *name, int result)
{
	log_line(LOG_LINE_ERROR, room, "the key %s: %s", name, key_fault(result));
	return EXIT_FAILURE;
}

/* Whoever can write the store must not be able to sign it. */
static bool is_inside(const char *path, const char *folder)
{
	CLEANUP(free_drop) char *real = realpath(path, NULL);
	CLEANUP(free_drop) char *real_folder = realpath(folder, NULL);
	size_t len = real_folder != NULL ? strlen(real_folder) : 0;

	return real != NULL && len != 0 && strncmp(real, real_folder, len) == 0 && real[len] == '/';
}

int main_audit_read_key(const char *room, const char *path, const char *state, struct audit_key *ret)
{
	int r = 0;

	if (is_inside(path, state)) {
		log_line(LOG_LINE_ERROR, room,
			"the key %s lies in the state folder: who holds that could sign what he wrote; move it", path);
		return EXIT_FAILURE;
	}
	r = audit_key_read(path, ret);
	return r != 0 ? refuse_key(room, path, r) : 0;
}

static int load_key(struct main_audit *audit, const char *path, const char *state)
{
	int r = path != NULL ? main_audit_read_key("audit", path, state, &audit->key) : 0;

	if (r != 0 || path == NULL)
		return r;
	audit->has_key = true;
	(void)audit_trust_add(&audit->trust, &audit->key);
	return 0;
}

int main_audit_load(struct main_audit *audit, const struct config *config, const char *state)
{
	const struct config_audit *set = &config->audit;
	int r = load_key(audit, set->key_file, state);

	for (size_t i = 0; r == 0 && i < set->trust.count; i++) {
		struct audit_key key;
		int found = audit_key_public(set->trust.items[i], &key);

		if (found != 0)
			r = refuse_key("audit", set->trust.items[i], found);
		else if (!audit_trust_add(&audit->trust, &key))
			r = refuse_key("audit", set->trust.items[i], -ENOSPC);
	}
	if (r == 0 && set->keep_days != 0 && set->export_folder == NULL) {
		log_line(LOG_LINE_ERROR, "audit",
			"[audit] keep_days needs an export_folder: rows are exported before they go");
		r = EXIT_FAILURE;
	}
	return r;
}

static void tell(void *arg, const char *what, int result)
{
	(void)arg;
	if (result == 0)
		log_line(LOG_LINE_INFO, "audit", "checkpoints are made and exported again");
	else
		log_line(LOG_LINE_ERROR, "audit", "%s failed (%s); it is tried again", what,
			result < 0 ? strerrordesc_np(-result) : "the store does not take it");
}

static void warn(const struct main_audit *audit, const struct config *config)
{
	if (!audit->has_key)
		log_line(LOG_LINE_WARNING, "audit",
			"checkpoints of the log are NOT SIGNED: whoever holds the store can rewrite it; make a key "
			"with "
			"admitd audit-key and set [audit] key_file");
	if (config->audit.export_folder == NULL)
		log_line(LOG_LINE_WARNING, "audit",
			"checkpoints of the log are NOT EXPORTED: its tail can be cut unnoticed; set [audit] "
			"export_folder");
}

int main_audit_start(struct main_audit *audit, const struct config *config, struct store *store)
{
	const struct config_audit *set = &config->audit;
	const struct audit_keeper_config keeper = {.store = store,
		.key = audit->has_key ? &audit->key : NULL,
		.trust = &audit->trust,
		.export_folder = set->export_folder,
		.every_rows = set->every_rows,
		.every_ms = (int64_t)set->every_seconds * 1000,
		.keep_ms = (int64_t)set->keep_days * 24 * 3600 * 1000,
		.tell = tell};
	int r = audit_keeper_start(&keeper, &audit->keeper);

	if (r == 0) {
		warn(audit, config);
		return 0;
	}
	log_line(LOG_LINE_ERROR, "audit", "the export folder %s: %s",
		set->export_folder != NULL ? set->export_folder : "(none)",
		r == AUDIT_FILE_FOREIGN ? "its checkpoints are of another store; give this one a folder of its own"
			: r == AUDIT_FILE_DAMAGED
			? "a line of its checkpoints.jsonl is none; look at it, and set it aside"
			: strerrordesc_np(-r));
	return EXIT_FAILURE;
}

void main_audit_stop(struct main_audit *audit)
{
	audit_keeper_stop(audit->keeper);
	audit->keeper = NULL;
	audit_key_wipe(&audit->key);
}
