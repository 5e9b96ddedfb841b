#include "prober/deliver.h"

#include <curl/curl.h>

#include "agents/url_rule.h"
#include "policy/cleanup.h"
#include "prober/client_rule.h"
#include "prober/deadline.h"

enum { ANSWER_LIMIT = 64 * 1024 };

struct posting {
	CURL *curl;
	struct curl_slist *headers;
	struct client_rule rule;
	size_t received;
};

static void posting_drop(struct posting *posting)
{
	curl_easy_cleanup(posting->curl);
	curl_slist_free_all(posting->headers);
}

/* Somebody who talks for long is hung up on: his status is known. */
static size_t forget_body(char *bytes, size_t size, size_t count, void *user)
{
	struct posting *posting = user;

	(void)bytes;
	posting->received += size * count;
	return posting->received <= ANSWER_LIMIT ? size * count : 0;
}

/* The texts of a message that was read end in NUL. */
static bool add_headers(struct posting *posting, const struct probe_deliver *deliver)
{
	for (size_t i = 0; i < deliver->header_count; i++) {
		struct curl_slist *list = curl_slist_append(posting->headers, deliver->headers[i].bytes);

		if (list == NULL)
			return false;
		posting->headers = list;
	}
	return true;
}

static bool set_all(struct posting *posting, const struct probe_deliver *deliver, int left_ms)
{
	CURL *curl = posting->curl;

	return curl != NULL && add_headers(posting, deliver) &&
		client_rule_set(curl, deliver->url.bytes, &posting->rule) &&
		curl_easy_setopt(curl, CURLOPT_HTTPHEADER, posting->headers) == CURLE_OK &&
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)deliver->body.len) == CURLE_OK &&
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, deliver->body.bytes) == CURLE_OK &&
		curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)left_ms) == CURLE_OK &&
		curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, forget_body) == CURLE_OK &&
		curl_easy_setopt(curl, CURLOPT_WRITEDATA, posting) == CURLE_OK;
}

static struct str fault_of(const struct posting *posting, CURLcode code)
{
	if (posting->rule.is_refused_address)
		return STR("its address may not be asked (link-local, private or this machine's; see [servers] "
			   "allow_private)");
	if (code == CURLE_OPERATION_TIMEDOUT)
		return STR("it doesn't answer in time");
	if (code == CURLE_COULDNT_RESOLVE_HOST)
		return STR("its name can't be resolved");
	if (code == CURLE_COULDNT_CONNECT)
		return STR("it refuses the connection");
	if (code == CURLE_SSL_CONNECT_ERROR || code == CURLE_PEER_FAILED_VERIFICATION)
		return STR("its certificate or TLS can't be trusted");
	return STR("it doesn't answer in HTTP");
}

void deliver_post(const struct probe_hello *allowed, const struct probe_deliver *deliver, int64_t end_ms,
	struct probe_delivered *ret)
{
	CLEANUP(posting_drop) struct posting posting = {.curl = curl_easy_init()};
	enum url_rule_verdict verdict = url_rule_judge(deliver->url);
	int left_ms = deadline_left_ms(end_ms);
	CURLcode code = CURLE_OPERATION_TIMEDOUT;
	long status = 0;

	posting.rule = (struct client_rule){
		.loopback_only = verdict == URL_RULE_LOOPBACK, .allow_private = allowed->allow_private};
	if (verdict == URL_RULE_REFUSED) {
		ret->error = STR("its URL isn't allowed");
		return;
	}
	if (!set_all(&posting, deliver, left_ms)) {
		ret->error = STR("it couldn't be sent");
		return;
	}
	if (left_ms > 0)
		code = curl_easy_perform(posting.curl);
	if (code != CURLE_OK && posting.received <= ANSWER_LIMIT) {
		ret->error = fault_of(&posting, code);
		return;
	}
	(void)curl_easy_getinfo(posting.curl, CURLINFO_RESPONSE_CODE, &status);
	ret->status = status;
}
