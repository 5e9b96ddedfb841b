#include "daemon/lifecycle/recall.h"

#include <errno.h>
#include <string.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/recall_make.h"
#include "daemon/lifecycle/scope_json.h"
#include "daemon/store/catalog.h"
#include "daemon/store/package.h"
#include "policy/json_parse.h"

/* ---- one stored decision, made again */

static int parse(struct str text, json_t **ret)
{
	int r = json_parse(text, ret, NULL);

	return r == JSON_PARSE_NOT_JSON ? -EUCLEAN : r;
}

int recall_decide(const struct catalog *catalog, struct str document, struct str inputs, struct recall_parts *ret)
{
	int r = 0;

	*ret = (struct recall_parts){0};
	r = parse(document, &ret->document);
	if (r == 0)
		r = parse(inputs, &ret->record);
	if (r != 0)
		return r;
	ret->is_begun = true;
	r = replay_decide(catalog, ret->document, ret->record, &ret->replay);
	return r == REPLAY_UNREADABLE ? -EUCLEAN : r;
}

void recall_parts_release(struct recall_parts *parts)
{
	if (parts->is_begun)
		replay_release(&parts->replay);
	json_decref(parts->document);
	json_decref(parts->record);
	*parts = (struct recall_parts){0};
}

int recall_catalog(struct str bytes, struct catalog **ret)
{
	struct catalog_fault fault;
	int r = catalog_new(bytes, ret, &fault);

	return r == CATALOG_REFUSED ? -EUCLEAN : r;
}

/* ---- reading one */

struct reading {
	struct str id;
	struct str projects_json;
	struct store_decision decision;
	struct store_catalog catalog;
	struct str document; /* absent: it isn't kept */
};

static int run_read(struct store_tx *tx, void *arg)
{
	struct reading *reading = arg;
	int r = store_decision_is_seen(tx, reading->id, reading->projects_json);

	if (r == 0)
		r = store_decision_find(tx, reading->id, &reading->decision);
	if (r == STORE_ABSENT)
		return LIFECYCLE_NOT_FOUND;
	if (r == 0)
		r = store_catalog_find(tx, reading->decision.catalog_digest, &reading->catalog);
	if (r == 0)
		r = store_document_find(tx, reading->decision.package_digest, &reading->document);
	if (r == STORE_ABSENT && reading->catalog.bytes.bytes != NULL)
		return 0;
	return call_store_result(r);
}

static int decide(struct lifecycle_recall *recall, const struct reading *reading)
{
	struct recall_parts parts = {0};
	int r = recall_catalog(reading->catalog.bytes, &recall->catalog);

	if (r == 0)
		r = recall_decide(recall->catalog, reading->document, reading->decision.inputs_json, &parts);
	recall->document = parts.document;
	recall->record = parts.record;
	recall->replay = parts.replay;
	recall->is_decided = parts.is_begun;
	return r == 0 ? replay_digests(&recall->replay, recall->id, recall->result) : r;
}

int lifecycle_recall(const struct lifecycle_reader *reader, struct str id, struct lifecycle_recall *ret)
{
	struct reading reading = {.id = id};
	int r = 0;

	*ret = (struct lifecycle_recall){0};
	r = scope_json(reader->arena, &reader->scope, &reading.projects_json);
	if (r == 0)
		r = store_read(lifecycle_store(reader->lifecycle), reader->arena, run_read, &reading);
	ret->decision = reading.decision;
	if (r != 0)
		return r < 0 ? call_store_result(r) : r;
	return reading.document.bytes != NULL ? decide(ret, &reading) : 0;
}

void lifecycle_recall_release(struct lifecycle_recall *recall)
{
	if (recall->is_decided)
		replay_release(&recall->replay);
	json_decref(recall->document);
	json_decref(recall->record);
	catalog_free(recall->catalog);
	*recall = (struct lifecycle_recall){0};
}

bool lifecycle_recall_is_same(const struct lifecycle_recall *recall)
{
	return str_is(recall->decision.id, recall->id) && str_is(recall->decision.result_digest, recall->result);
}
