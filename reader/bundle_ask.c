/* okf_ask: every named concept is read, ranked, and the best are shown with the passage that answers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/cleanup.h"
#include "reader/bundle_call.h"
#include "reader/bundle_rank.h"
#include "reader/terms.h"

enum { SCRATCH = 64 * 1024 * 1024 };

_Static_assert(
	(int)BUNDLE_ASK_LIMIT <= (int)BUNDLE_RANK_LIMIT && (int)BUNDLE_QUESTION_BYTES <= (int)TERMS_QUESTION_BYTES,
	"what a call may ask is what is ranked");

/* One text, as it is ranked. Borrows from the scratch arena and asking->text. */
struct concept {
	struct front_matter head;
	struct bundle_rank_text text;
};

struct asking {
	struct bundle_call *call;
	const struct bundle_found *found; /* what is asked */
	struct bundle *bundles;           /* as many; zeroed ones couldn't be opened */
	size_t count;
	struct bundle_rank *rank;
	struct concept concept; /* the one that was read last */
	struct arena scratch;
	struct buf text;
	struct buf faults;
	struct json_out fault_out;
	struct bundle_cut cut;
	size_t searched, fault_count;
};

static void asking_release(struct asking *asking)
{
	size_t i;

	for (i = 0; i < asking->count && asking->bundles != NULL; i++)
		bundle_release(&asking->bundles[i]);
	free(asking->bundles);
	bundle_rank_free(&asking->rank);
	arena_release(&asking->scratch);
	buf_release(&asking->text);
	buf_release(&asking->faults);
}

/* A concept's number in the rank, and back. */
static size_t number_of(size_t bundle, size_t concept)
{
	return bundle << 32 | concept;
}

static struct str join_tags(struct arena *arena, const struct front_matter *head)
{
	struct buf tags CLEANUP(buf_release) = {0};
	size_t i;

	buf_init(&tags, FRONT_MATTER_TAGS_LIMIT * (FRONT_MATTER_NAME_LIMIT + 1));
	for (i = 0; i < head->tag_count; i++) {
		buf_add_str(&tags, head->tags[i]);
		buf_putc(&tags, ' ');
	}
	return arena_str(arena, buf_str(&tags));
}

/* 0; a result of enum bundle_result; or -errno. */
static int read_concept(struct asking *asking, const struct bundle *bundle, struct str id)
{
	struct concept *concept = &asking->concept;
	int result = bundle_concept_read(bundle, id, &asking->text);

	if (result != 0)
		return result;
	arena_reset(&asking->scratch);
	result = front_matter_read(&asking->scratch, buf_str(&asking->text), &concept->head, &concept->text.body);
	if (result < 0)
		return result;
	concept->text.title = concept->head.title.len > 0 ? concept->head.title : id;
	concept->text.description = concept->head.description;
	concept->text.tags = join_tags(&asking->scratch, &concept->head);
	return concept->text.tags.bytes == NULL ? -ENOMEM : 0;
}

static void begin_fault(struct asking *asking, size_t bundle)
{
	json_out_begin_object(&asking->fault_out);
	json_out_member_str(&asking->fault_out, "bundle_id", asking->found[bundle].id);
}

static void add_fault(struct asking *asking, size_t bundle, struct str id, int result)
{
	if (asking->fault_count++ >= BUNDLE_NAMED_FAULTS)
		return;
	begin_fault(asking, bundle);
	bundle_write_name(&asking->fault_out, "concept_id", id);
	json_out_member_text(&asking->fault_out, "code", bundle_result_word(result));
	json_out_end_object(&asking->fault_out);
}

static int rank_concept(struct asking *asking, size_t at, size_t concept_at)
{
	const struct bundle *bundle = &asking->bundles[at];
	struct str id = bundle->named[concept_at];
	int result = read_concept(asking, bundle, id);

	if (result > 0 && result != BUNDLE_CUT)
		add_fault(asking, at, id, result);
	if (result != 0)
		return result < 0 ? result : 0;
	asking->searched++;
	return bundle_rank_add(asking->rank, number_of(at, concept_at), &asking->concept.text);
}

/* 0, a result that the call ends with, or -errno. */
static int rank_bundle(struct asking *asking, size_t at)
{
	struct bundle *bundle = &asking->bundles[at];
	int result = bundle_call_open(asking->call, &asking->found[at], bundle);
	size_t i;

	if (result > 0) {
		asking->fault_count++;
		bundle_write_bundle_fault(&asking->fault_out, asking->found[at].id, result);
		return 0;
	}
	for (i = 0; i < bundle->named_count && result == 0; i++)
		result = rank_concept(asking, at, i);
	bundle_cut_by(&asking->cut, bundle);
	return result;
}

static void write_hit(struct asking *asking, const struct bundle_rank_hit *hit, const struct concept *concept,
	struct str id, struct str excerpt)
{
	struct json_out *out = &asking->call->out;

	json_out_begin_object(out);
	json_out_member_str(out, "bundle_id", asking->found[hit->number >> 32].id);
	bundle_write_name(out, "concept_id", id);
	bundle_write_name(out, "title", concept->text.title);
	if (concept->head.type.len > 0)
		json_out_member_str(out, "type", concept->head.type);
	json_out_key(out, "score");
	json_out_raw(out,
		arena_printf(&asking->scratch, "%lld.%03d", (long long)(hit->score_milli / 1000),
			(int)(hit->score_milli % 1000)));
	json_out_member_str(out, "excerpt", excerpt);
	json_out_member_bool(out, "deprecated", bundle_is_deprecated(&concept->head));
	json_out_member_bool(out, "stale", bundle_is_stale(asking->call, &concept->head));
	json_out_member_text(out, "trust", bundle_trust(&concept->head));
	json_out_end_object(out);
}

/* A concept that went away since it was ranked is left out. */
static int show_hit(struct asking *asking, const struct bundle_rank_hit *hit)
{
	const struct bundle *bundle = &asking->bundles[hit->number >> 32];
	struct str id = bundle->named[hit->number & 0xFFFFFFFFu];
	struct buf excerpt CLEANUP(buf_release) = {0};
	int result = read_concept(asking, bundle, id);

	buf_init(&excerpt, 64 * 1024);
	if (result == 0)
		result = bundle_rank_excerpt(asking->rank, &asking->concept.text, &excerpt);
	if (result == 0)
		write_hit(asking, hit, &asking->concept, id, buf_str(&excerpt));
	return result < 0 ? result : 0;
}

static int show(struct asking *asking, size_t limit)
{
	struct bundle_rank_hit hits[BUNDLE_ASK_LIMIT];
	struct json_out *out = &asking->call->out;
	size_t i, count = bundle_rank_best(asking->rank, limit, hits);
	int result = 0;

	json_out_begin_object(out);
	json_out_key(out, "hits");
	json_out_begin_array(out);
	for (i = 0; i < count && result == 0; i++)
		result = show_hit(asking, &hits[i]);
	if (result != 0)
		return result;
	json_out_end_array(out);
	json_out_end_array(&asking->fault_out);
	json_out_member_int(out, "searched", (int64_t)asking->searched);
	json_out_member_raw(out, "faults", buf_str(&asking->faults));
	json_out_member_int(out, "fault_count", (int64_t)asking->fault_count);
	bundle_write_bounds(out, &asking->call->finds, &asking->cut);
	json_out_end_object(out);
	return buf_error(&asking->faults);
}

static int begin(struct asking *asking, struct bundle_call *call, struct str question)
{
	size_t limit = call->service->concept_bytes;

	asking->call = call;
	arena_init(&asking->scratch, SCRATCH);
	buf_init(&asking->text, (limit == 0 ? BUNDLE_CONCEPT_BYTES : limit) + 1);
	buf_init(&asking->faults, BUNDLE_ANSWER_BYTES);
	json_out_init(&asking->fault_out, &asking->faults);
	json_out_begin_array(&asking->fault_out);
	asking->bundles = calloc(asking->count + 1, sizeof(*asking->bundles));
	if (asking->bundles == NULL)
		return -ENOMEM;
	return bundle_rank_new(question, &asking->rank);
}

int bundle_run_ask(struct bundle_call *call)
{
	struct asking asking CLEANUP(asking_release) = {0};
	const json_t *limit = json_object_get(call->arguments, "limit");
	size_t i;
	int result = bundle_call_range(call, &asking.found, &asking.count);

	if (result != 0)
		return result;
	result = begin(&asking, call, bundle_argument(call, "question"));
	for (i = 0; i < asking.count && result == 0; i++)
		result = rank_bundle(&asking, i);
	if (result != 0)
		return result;
	return show(&asking, limit == NULL ? BUNDLE_ASK_USUAL : (size_t)json_integer_value(limit));
}
