#include "prober/client_rule.h"

#include <sys/socket.h>

#include "prober/address_rule.h"

static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct client_rule *rule = user;

	if (purpose != CURLSOCKTYPE_IPCXN ||
		!address_rule_allows(&address->addr, rule->loopback_only, rule->allow_private)) {
		rule->is_refused_address = true;
		return CURL_SOCKET_BAD;
	}
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

bool client_rule_set(CURL *curl, const char *url, struct client_rule *rule)
{
	return curl_easy_setopt(curl, CURLOPT_URL, url) == CURLE_OK &&
		curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
		curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
		curl_easy_setopt(curl, CURLOPT_PROXY, "") == CURLE_OK &&
		curl_easy_setopt(curl, CURLOPT_NOPROXY, "*") == CURLE_OK &&
		curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) == CURLE_OK &&
		curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
		curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
		curl_easy_setopt(curl, CURLOPT_USERAGENT, "admitd-prober/" PACKAGE_VERSION) == CURLE_OK &&
		curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
		curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, rule) == CURLE_OK;
}
