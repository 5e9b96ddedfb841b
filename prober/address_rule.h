/* address_rule.h - which addresses the prober may connect to, judged after a name was resolved (chapter 3.2 "Processes").
 *
 * Never: link-local addresses (where clouds keep their metadata), multicast, broadcast, the unspecified one. Private ones and, but
 * for http, this machine's only when the configuration says so. An IPv4 address inside an IPv6 one is judged as what it is.
 * Pure, any thread.
 */
#ifndef ADMITD_PROBER_ADDRESS_RULE_H
#define ADMITD_PROBER_ADDRESS_RULE_H

#include <stdbool.h>
#include <sys/socket.h>

enum address_kind {
	ADDRESS_NEVER = 0,
	ADDRESS_PUBLIC,
	ADDRESS_PRIVATE,
	ADDRESS_LOOPBACK,
};

enum address_kind address_rule_kind(const struct sockaddr *address);

/* `loopback_only`: the URL is plain http. */
bool address_rule_allows(const struct sockaddr *address, bool loopback_only, bool allow_private);

#endif
