#include "daemon/http/idempotency.h"

#include <errno.h>
#include <strings.h>

#include "daemon/http/router.h"
#include "policy/cleanup.h"
#include "policy/json_out.h"

enum { PRUNED_AT_ONCE = 100, BODY_CEILING = 8 * 1024 * 1024 };

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

void idempotency_init(struct idempotency *idempotency)
{
	*idempotency = (struct idempotency){0};
	(void)pthread_mutex_init(&idempotency->lock, NULL);
}

void idempotency_release(struct idempotency *idempotency)
{
	(void)pthread_mutex_destroy(&idempotency->lock);
}

static bool is_name(struct str name)
{
	return name.len == sizeof("Idempotency-Key") - 1 && strncasecmp(name.bytes, "Idempotency-Key", name.len) == 0;
}

/* The header's value; absent without one. False: it came twice or isn't a key. */
static bool read_header(const struct http_request *request, struct str *ret_key)
{
	*ret_key = (struct str){0};
	for (unsigned i = 0; i < request->headers_count; i++) {
		if (!is_name(request->headers[i].name))
			continue;
		if (ret_key->bytes != NULL)
			return false;
		*ret_key = request->headers[i].value;
	}
	if (ret_key->bytes == NULL)
		return true;
	for (size_t i = 0; i < ret_key->len; i++) {
		if (ret_key->bytes[i] < 0x21 || ret_key->bytes[i] > 0x7e)
			return false;
	}
	return ret_key->len >= 1 && ret_key->len <= IDEMPOTENCY_KEY_MAX;
}

/* Method, pattern and ids: decoded, so that one route has one name however its path is spelled. */
static int name_route(struct http_request *request, struct str *ret)
{
	const struct http_route *route = request->route;

	*ret = arena_printf(&request->arena, "%s %s", http_method_name(route->method), route->pattern);
	for (size_t i = 0; ret->bytes != NULL && i < HTTP_PARAMS && request->params[i].bytes != NULL; i++)
		*ret = arena_printf(
			&request->arena, "%s %.*s", ret->bytes, (int)request->params[i].len, request->params[i].bytes);
	return ret->bytes != NULL ? 0 : -ENOMEM;
}

static int digest_body(const struct http_request *request, char ret_digest[static DIGEST_TEXT_SIZE])
{
	CLEANUP(buf_drop) struct buf buf = {0};
	struct json_out out;

	buf_init(&buf, BODY_CEILING);
	json_out_init(&out, &buf);
	if (request->json != NULL)
		json_out_canonical(&out, request->json);
	if (buf_error(&buf) != 0)
		return buf_error(&buf);
	digest_text(buf_str(&buf), ret_digest);
	return 0;
}

static bool is_same(const struct idempotency_key *a, const struct idempotency_key *b)
{
	return str_equal(a->key, b->key) && str_equal(a->token, b->token) && str_equal(a->route, b->route);
}

static bool take(struct idempotency *idempotency, struct idempotency_key *key)
{
	const struct idempotency_key *other = NULL;

	(void)pthread_mutex_lock(&idempotency->lock);
	other = idempotency->running;
	while (other != NULL && !is_same(other, key))
		other = other->next;
	if (other == NULL) {
		key->next = idempotency->running;
		idempotency->running = key;
	}
	(void)pthread_mutex_unlock(&idempotency->lock);
	return other == NULL;
}

int idempotency_begin(struct idempotency *idempotency, struct http_request *request, struct idempotency_key *ret_key)
{
	int r = 0;

	*ret_key = (struct idempotency_key){.token = request->token.id};
	if (!read_header(request, &ret_key->key))
		return IDEMPOTENCY_MALFORMED;
	if (ret_key->key.bytes == NULL)
		return 0;
	r = name_route(request, &ret_key->route);
	if (r == 0)
		r = digest_body(request, ret_key->digest);
	if (r != 0)
		return r;
	return take(idempotency, ret_key) ? 0 : IDEMPOTENCY_IN_PROGRESS;
}

void idempotency_end(struct idempotency *idempotency, struct idempotency_key *key)
{
	struct idempotency_key **at = &idempotency->running;

	if (key->key.bytes == NULL)
		return;
	(void)pthread_mutex_lock(&idempotency->lock);
	while (*at != NULL && *at != key)
		at = &(*at)->next;
	CHECK(*at == key);
	*at = key->next;
	(void)pthread_mutex_unlock(&idempotency->lock);
	key->key = (struct str){0};
}

struct finding {
	const struct idempotency_key *key;
	struct store_answer *answer;
};

static int run_find(struct store_tx *tx, void *arg)
{
	const struct finding *finding = arg;

	return store_answer_find(tx, finding->key->token, finding->key->route, finding->key->key, finding->answer);
}

int idempotency_find(
	struct store *store, struct arena *arena, const struct idempotency_key *key, struct store_answer *ret_answer)
{
	struct finding finding = {key, ret_answer};
	int r = 0;

	if (key->key.bytes == NULL)
		return 0;
	r = store_read(store, arena, run_find, &finding);
	if (r == STORE_ABSENT)
		return 0;
	if (r != 0)
		return r < 0 ? r : -EBUSY;
	return str_is(ret_answer->body_digest, key->digest) ? IDEMPOTENCY_RECORDED : IDEMPOTENCY_MISMATCH;
}

int idempotency_record(
	struct store_tx *tx, const struct idempotency_key *key, unsigned status, struct str answer, int64_t now)
{
	struct store_answer row = {
		.token = key->token,
		.route = key->route,
		.key = key->key,
		.body_digest = {key->digest, DIGEST_TEXT_SIZE - 1},
		.status = status,
		.answer_json = answer,
		.at = now,
	};
	int r = store_answer_prune(tx, now - IDEMPOTENCY_KEPT_MS, PRUNED_AT_ONCE);

	if (r == 0)
		r = store_answer_insert(tx, &row);
	return r > 0 ? -EEXIST : r;
}
