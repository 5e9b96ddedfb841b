/* audit_line.h - the log as JSON lines: what is exported, streamed, and checked without a store (chapters 2.8, 4.2).
 *
 *	{"log":{"storeId":"…","after":0,"hash":null}}                   the first line: where the rows that follow begin
 *	{"sequence":1,"type":"…","subject":{"kind":"…","id":"…"},…,"record":"…","hash":"…","payload":{…}}     a row
 *	{"checkpoint":{"at":"…","epoch":1,"hash":"…","keyId":"…","number":1,"sequence":1000,"storeId":"…"},"signature":"…"}
 *	{"result":{"lastSequence":1234}}                                the last line of what a daemon sent
 *
 * A row has everything that its hash covers (event.h); `payload` comes last and is the very text. A signature is over
 * "admitd/checkpoint/1\n" and the text of `checkpoint`, which is canonical JSON, so that any Ed25519 tool can check it; both it and
 * keyId are null in one that is unsigned. Pure; any thread.
 */
#ifndef ADMITD_DAEMON_AUDIT_AUDIT_LINE_H
#define ADMITD_DAEMON_AUDIT_AUDIT_LINE_H

#include "daemon/audit/audit_key.h"
#include "daemon/store/audit.h"
#include "policy/json_out.h"

enum { AUDIT_STORE_ID_BYTES = 16 };

/* The members of a row, `hash` and `record` too, without the braces: payload last. */
void audit_line_event(struct json_out *out, const struct store_event *event);
/* `store_id` as store_identity gives it. */
void audit_line_checkpoint(struct json_out *out, struct str store_id, const struct store_checkpoint *row);
void audit_line_start(struct json_out *out, struct str store_id, const struct store_chain *chain);

/* Signs: fills key_id (borrowed from `key`) and signature. 0 or -ENOMEM. */
int audit_line_sign(struct store_checkpoint *row, struct str store_id, const struct audit_key *key) MUST_USE;

enum audit_signature { AUDIT_SIGNATURE_BAD = 0, AUDIT_SIGNATURE_NONE, AUDIT_SIGNATURE_FOREIGN, AUDIT_SIGNATURE_GOOD };
/* FOREIGN: by a key that isn't believed; BAD also when memory ran out. */
enum audit_signature audit_line_signature(
	const struct store_checkpoint *row, struct str store_id, const struct audit_trust *trust);

enum audit_line_kind { AUDIT_LINE_BAD = 0, AUDIT_LINE_START, AUDIT_LINE_EVENT, AUDIT_LINE_CHECKPOINT, AUDIT_LINE_END };

struct audit_line {
	enum audit_line_kind kind;
	struct str store_id;      /* of a start or checkpoint */
	struct store_chain chain; /* of a start; its sequence alone of an end */
	struct store_event event;
	struct store_checkpoint checkpoint;
};

/* Reads a line (without its end); texts live in the arena. 0 (kind BAD: it isn't one) or -ENOMEM. */
int audit_line_read(struct str text, struct arena *arena, struct audit_line *ret) MUST_USE;

#endif
