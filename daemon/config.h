/* config.h - what the operator set: a file of sections, and the command line over it (chapters 2.3, 2.4, 4.1).
 *
 *	[server]   listen = 127.0.0.1:7333      hosts = admit.example admit.example:443
 *	           socket = /run/admitd/admitd.sock      tls_proxy = no
 *	           certificate_file = /etc/admitd/tls.crt      key_file = /etc/admitd/tls.key
 *	[peers]    1000 = planner executor      (what a uid may at the socket without a token; `read`: nothing but reading)
 *	[store]    state = /var/lib/admitd
 *	[roots]    allow = /srv/projects        (one a line; repeat it)
 *	[approval] allow_self = no
 *	[preview]  durable = no
 *	[servers]  commands = /usr/bin/node /opt/tools/server      allow_private = no
 *	[secrets]  key_file = /etc/admitd/secrets.key
 *	[runs]     lease_seconds = 60
 *	[context]  files = 50      bytes = 163840      file_bytes = 24576      depth = 6      entries = 5000
 *	[health]   max_age_seconds = 30     (1 to 300)
 *	[limits]   requests_per_minute = 600000      (of one token)
 *	[events]   beat = 15                (seconds, 1 to 300)
 *	[audit]    key_file = /etc/admitd/audit.key      export_folder = /mnt/elsewhere/admitd      trust = (an older public key)
 *	           every_rows = 1000      every_seconds = 3600      keep_days = 400      (none: all rows stay)
 *	[webhooks] url = https://ops.example/hook      events = hold.opened hold.cleared task.status      key_file = /etc/admitd/hook.key
 *
 * The file is read by libinih. What isn't known is a fault with its line, so that a typo can't pass silently. Prints nothing.
 */
#ifndef ADMITD_DAEMON_CONFIG_H
#define ADMITD_DAEMON_CONFIG_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/check.h"

enum {
	CONFIG_LIST_MAX = 64,
	CONFIG_PEERS_MAX = 64,
	CONFIG_LINE_MAX = 190,
	CONFIG_FILE_MAX = 64 * 1024,
	CONFIG_BEAT_MAX = 300,
	CONFIG_LEASE_MAX = 3600,
	CONFIG_REQUESTS_MAX = 60 * 1000 * 1000,
	CONFIG_HEALTH_AGE_MAX = 300,
	CONFIG_CONTEXT_FILES_MAX = 5000,
	CONFIG_CONTEXT_BYTES_MAX = 16 * 1024 * 1024,
	CONFIG_CONTEXT_FILE_BYTES_MAX = 1024 * 1024,
	CONFIG_CONTEXT_DEPTH_MAX = 64,
	CONFIG_CONTEXT_ENTRIES_MAX = 200000,
	CONFIG_AUDIT_ROWS_MAX = 100000,
	CONFIG_AUDIT_SECONDS_MAX = 86400,
	CONFIG_AUDIT_DAYS_MAX = 36500,
};

/* A list of texts, owned. */
struct config_list {
	char *items[CONFIG_LIST_MAX];
	size_t count;
};

/* How the log is vouched for (chapter 2.8); numbers: 0 the file doesn't say it. */
struct config_audit {
	char *key_file; /* owned, as the next; NULL: none */
	char *export_folder;
	struct config_list trust; /* public keys, or files with one, beside that of key_file */
	unsigned every_rows;
	unsigned every_seconds;
	unsigned keep_days;
};

/* How much of a project one context packet takes (chapter 5.2); 0: the usual. */
struct config_context {
	unsigned files;
	unsigned bytes;
	unsigned file_bytes;
	unsigned depth;
	unsigned entries;
};

/* Who is told of events. */
struct config_webhooks {
	char *url;                 /* owned; as it stands there; NULL: nobody */
	struct config_list events; /* types; none: the usual */
	char *key_file;            /* owned; signs them */
};

/* What a uid of this machine may without a token. */
struct config_peer {
	unsigned uid;
	char *words; /* owned; of roles */
};

struct config {
	char address[INET6_ADDRSTRLEN];
	uint16_t port;
	bool has_listen;        /* the file says it */
	char *state;            /* owned; NULL: the file doesn't say it */
	char *socket;           /* owned; of this machine; NULL: none */
	char *certificate_file; /* owned, as the next; both or, for plain HTTP, neither */
	char *certificate_key_file;
	bool is_behind_tls_proxy;
	struct config_peer peers[CONFIG_PEERS_MAX];
	size_t peer_count;
	struct config_list hosts;
	struct config_list roots;
	struct config_list commands; /* that may be run to check a tool server */
	bool allow_private_servers;
	char *key_file; /* owned; of sealed credentials; NULL: none */
	bool allow_self_approval;
	bool durable_previews;
	unsigned lease_seconds;      /* 0: the file doesn't say it */
	unsigned health_age_seconds; /* 0: the usual */
	unsigned beat_seconds;       /* 0: the usual */
	unsigned token_minute;       /* requests of one token a minute; 0: the usual */
	struct config_context context;
	struct config_audit audit;
	struct config_webhooks webhooks;
};

/* Where a file is wrong, and how. */
struct config_fault {
	int line; /* from 1; 0: the file as a whole */
	char text[256];
};

enum config_result { CONFIG_REFUSED = 1 };

/* What goes without a file: 127.0.0.1:7333, and nothing else set. */
void config_init(struct config *config);
void config_release(struct config *config);

/* Reads a file over what is there. 0; CONFIG_REFUSED and *ret_fault; or -ENOMEM. */
int config_read(struct config *config, const char *path, struct config_fault *ret_fault) MUST_USE;
/* The same for a text of `len` bytes. */
int config_parse(struct config *config, const char *text, size_t len, struct config_fault *ret_fault) MUST_USE;

/* "127.0.0.1:7333", "[::1]:0". False: it isn't a numeric address with a port. */
bool config_listen(const char *text, char ret_address[static INET6_ADDRSTRLEN], uint16_t *ret_port);

#endif
