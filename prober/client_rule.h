/* client_rule.h - how every HTTP request of the prober is made (chapter 3.2 "Processes").
 *
 * http or https, no redirects, no proxies, no stored credentials, and only to addresses that address_rule.h allows, judged at the moment
 * of connecting. One thread.
 */
#ifndef ADMITD_PROBER_CLIENT_RULE_H
#define ADMITD_PROBER_CLIENT_RULE_H

#include <curl/curl.h>
#include <stdbool.h>

struct client_rule {
	bool loopback_only; /* the URL is plain http */
	bool allow_private;
	bool is_refused_address; /* out: an address was forbidden */
};

/* `rule` and the handle belong together until the handle is cleaned up; `url` is copied. False: curl doesn't take it. */
bool client_rule_set(CURL *curl, const char *url, struct client_rule *rule);

#endif
