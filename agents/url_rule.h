/* url_rule.h - which addresses a tool server may have (chapter 5.6).
 *
 * https anywhere; plain http only to this machine: localhost, ::1, 127.0.0.0/8. It is decided on the authority after its last @, the
 * way a client would read it that means no harm, and everything that two clients could read differently is refused: white space and
 * control bytes, backslashes, bytes outside ASCII, odd spellings of IPv4. What a name resolves to is judged later, where the
 * connection is made. May use policy only. Pure, any thread.
 */
#ifndef ADMITD_AGENTS_URL_RULE_H
#define ADMITD_AGENTS_URL_RULE_H

#include <stdbool.h>

#include "policy/arena.h"

enum url_rule_verdict {
	URL_RULE_REFUSED = 0,
	URL_RULE_HTTPS,
	URL_RULE_LOOPBACK, /* http, and the name or address is this machine's */
};

enum url_rule_verdict url_rule_judge(struct str url);

/* Whether the authority of a URL has a password, which belongs into a header. */
bool url_rule_has_password(struct str url);

#endif
