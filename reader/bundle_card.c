/* okf_describe: a card says what a bundle is and how large, derived anew each time. What no index names is counted, and nothing of it
 * is shown. */
#include <errno.h>
#include <stdlib.h>

#include "policy/cleanup.h"
#include "reader/bundle_call.h"
#include "reader/bundle_link.h"
#include "reader/bundle_tally.h"

enum {
	SCRATCH = 64 * 1024 * 1024, /* for what is read of one concept */
	BYTES_A_TOKEN = 4,
	TOKENS_A_HIT = 200, /* of okf_ask, with what JSON adds */
};

struct card {
	const struct bundle_call *call;
	struct bundle bundle;
	struct bundle_cut cut;
	struct arena scratch;
	struct front_matter head;
	struct bundle_tally types;
	struct bundle_tally fields;
	struct bundle_ref *ref;
	char ref_hex[BUNDLE_REF_HEX + 1];
	size_t concepts, named, unnamed, conformant;
	size_t without_block, malformed_block, without_type, unread;
	size_t drafts, deprecated, stale, human, machine, unverified;
	uint64_t bytes; /* of the named ones */
	struct buf faults, broken;
	struct json_out fault_out, broken_out;
	size_t fault_count, broken_count;
};

static void card_release(struct card *card)
{
	bundle_release(&card->bundle);
	arena_release(&card->scratch);
	bundle_ref_free(&card->ref);
	buf_release(&card->faults);
	buf_release(&card->broken);
}

static void card_init(struct card *card, const struct bundle_call *call)
{
	*card = (struct card){.call = call};
	arena_init(&card->scratch, SCRATCH);
	buf_init(&card->faults, BUNDLE_ANSWER_BYTES);
	buf_init(&card->broken, BUNDLE_ANSWER_BYTES);
	json_out_init(&card->fault_out, &card->faults);
	json_out_init(&card->broken_out, &card->broken);
	json_out_begin_array(&card->fault_out);
	json_out_begin_array(&card->broken_out);
}

static void add_fault(struct card *card, struct str id, int result)
{
	if (card->fault_count++ >= BUNDLE_NAMED_FAULTS)
		return;
	json_out_begin_object(&card->fault_out);
	bundle_write_name(&card->fault_out, "concept_id", id);
	json_out_member_text(&card->fault_out, "code", bundle_result_word(result));
	json_out_end_object(&card->fault_out);
}

static void add_broken(struct card *card, struct str id, struct str target)
{
	if (card->broken_count++ >= BUNDLE_NAMED_FAULTS)
		return;
	json_out_begin_object(&card->broken_out);
	bundle_write_name(&card->broken_out, "concept_id", id);
	bundle_write_name(&card->broken_out, "target", (struct str){target.bytes, target.len < 256 ? target.len : 256});
	json_out_end_object(&card->broken_out);
}

static struct str folder_of(struct str id)
{
	size_t len = id.len;

	while (len > 0 && id.bytes[len - 1] != '/')
		len--;
	return (struct str){id.bytes, len > 0 ? len - 1 : 0};
}

/* Links that lead to nothing of the bundle, or out of it. */
static int check_links(struct card *card, struct str id, struct str body)
{
	struct bundle_links links = bundle_links_of(body);
	struct str target, path;
	bool is_folder;

	while (bundle_links_next(&links, &target)) {
		int result = bundle_link_resolve(&card->scratch, folder_of(id), target, &path, &is_folder);

		if (result < 0)
			return result;
		if (result == BUNDLE_LINK_OUTSIDE || (result == 0 && !bundle_has_path(&card->bundle, path)))
			add_broken(card, id, target);
	}
	return 0;
}

static void count_state(struct card *card)
{
	const struct front_matter *head = &card->head;

	card->drafts += str_is(head->status, "draft");
	card->deprecated += bundle_is_deprecated(head);
	card->stale += bundle_is_stale(card->call, head);
	card->human += head->is_human_verified;
	card->machine += head->verified_count > 0 && !head->is_human_verified;
	card->unverified += head->verified_count == 0;
}

/* What the card tells of a concept that an index names. */
static int count_named(struct card *card, struct str id, struct str text, struct str body)
{
	struct arena *kept = &card->bundle.arena;
	size_t i;
	int result = 0;

	card->bytes += text.len;
	count_state(card);
	if (card->head.type.len > 0)
		result = bundle_tally_add(&card->types, kept, card->head.type);
	for (i = 0; i < card->head.key_count && result == 0; i++)
		result = bundle_tally_add(&card->fields, kept, card->head.keys[i]);
	return result == 0 ? check_links(card, id, body) : result;
}

/* Reads the front matter into card->head and counts how it conforms. 0 or -ENOMEM. */
static int judge(struct card *card, struct str text, struct str *ret_body)
{
	int result = front_matter_read(&card->scratch, text, &card->head, ret_body);

	if (result < 0)
		return result;
	card->without_block += result == FRONT_MATTER_NONE;
	card->malformed_block += result == FRONT_MATTER_MALFORMED;
	card->without_type += result == 0 && card->head.type.len == 0;
	card->conformant += result == 0 && card->head.type.len > 0;
	return 0;
}

/* One concept whose text was read, or not. */
static int take_concept(struct card *card, struct str id, bool is_named, int result, struct str text)
{
	struct str body;

	if (result == 0)
		result = bundle_text_check(text);
	if (result > 0) {
		card->unread += result != BUNDLE_CUT;
		if (is_named && result != BUNDLE_CUT)
			add_fault(card, id, result);
		return 0;
	}
	arena_reset(&card->scratch);
	result = judge(card, text, &body);
	return result == 0 && is_named ? count_named(card, id, text, body) : result;
}

static bool is_page(struct str path)
{
	return path.len > 3 && str_is((struct str){path.bytes + path.len - 3, 3}, ".md");
}

static int take_page(struct card *card, const struct bundle_file *file, struct buf *text)
{
	bool is_named;
	int result = bundle_page_read(&card->bundle, file, text);

	if (result < 0)
		return result;
	bundle_ref_add(card->ref, file, result, buf_str(text));
	if (!bundle_is_concept(file->path))
		return 0;
	card->concepts++;
	is_named = bundle_named_has(&card->bundle, bundle_id_of(file->path));
	card->unnamed += !is_named;
	return take_concept(card, bundle_id_of(file->path), is_named, result, buf_str(text));
}

/* What is named and was not met by the walk: it is missing, or a linked folder is in its path. */
static int take_unmet(struct card *card, struct str id, struct buf *text)
{
	struct str path = arena_printf(&card->bundle.arena, "%.*s.md", (int)id.len, id.bytes);
	int result;

	if (path.bytes == NULL)
		return -ENOMEM;
	if (bundle_has_path(&card->bundle, path))
		return 0;
	result = bundle_concept_read(&card->bundle, id, text);
	if (result < 0)
		return result;
	if (result > 0 && result != BUNDLE_CUT)
		add_fault(card, id, result);
	if (result > 0)
		return 0;
	card->concepts++;
	return take_concept(card, id, true, 0, buf_str(text));
}

static int take_all(struct card *card)
{
	struct buf text CLEANUP(buf_release) = {0};
	int result = bundle_ref_new(&card->ref);
	size_t i;

	buf_init(&text, card->bundle.concept_bytes + 1);
	for (i = 0; i < card->bundle.file_count && result == 0; i++)
		if (is_page(card->bundle.files[i].path))
			result = take_page(card, &card->bundle.files[i], &text);
	for (i = 0; i < card->bundle.named_count && result == 0; i++)
		result = take_unmet(card, card->bundle.named[i], &text);
	if (result == 0)
		bundle_ref_end(card->ref, card->ref_hex);
	bundle_cut_by(&card->cut, &card->bundle);
	return result;
}

static void write_counts(const struct card *card, struct json_out *out)
{
	json_out_member_int(out, "concepts", (int64_t)card->concepts);
	json_out_member_int(out, "named", (int64_t)card->bundle.named_count);
	json_out_member_int(out, "unnamed", (int64_t)card->unnamed);
	json_out_member_int(out, "conformant", (int64_t)card->conformant);
	json_out_member_int(out, "non_conformant", (int64_t)(card->concepts - card->conformant));
	json_out_key(out, "findings");
	json_out_begin_object(out);
	json_out_member_int(out, "no_front_matter", (int64_t)card->without_block);
	json_out_member_int(out, "front_matter_malformed", (int64_t)card->malformed_block);
	json_out_member_int(out, "no_type", (int64_t)card->without_type);
	json_out_member_int(out, "unreadable", (int64_t)card->unread);
	json_out_member_int(out, "unreadable_indexes", (int64_t)card->bundle.unread_indexes);
	json_out_member_int(out, "unreadable_folders", (int64_t)card->bundle.unread_folders);
	json_out_end_object(out);
}

static void write_states(const struct card *card, struct json_out *out)
{
	json_out_key(out, "states");
	json_out_begin_object(out);
	json_out_member_int(out, "draft", (int64_t)card->drafts);
	json_out_member_int(out, "deprecated", (int64_t)card->deprecated);
	json_out_member_int(out, "stale", (int64_t)card->stale);
	json_out_end_object(out);
	json_out_key(out, "trust");
	json_out_begin_object(out);
	json_out_member_int(out, "human_reviewed", (int64_t)card->human);
	json_out_member_int(out, "machine_confirmed", (int64_t)card->machine);
	json_out_member_int(out, "unverified", (int64_t)card->unverified);
	json_out_end_object(out);
}

/* Reading all of it costs its tokens; asking costs an answer of the usual length and one concept of the average size. */
static void write_size(const struct card *card, struct json_out *out)
{
	uint64_t tokens = (card->bytes + BYTES_A_TOKEN - 1) / BYTES_A_TOKEN;
	uint64_t average = card->bundle.named_count > 0 ? tokens / card->bundle.named_count : 0;
	uint64_t asking = BUNDLE_ASK_USUAL * TOKENS_A_HIT + average;

	json_out_member_int(out, "bytes", (int64_t)card->bytes);
	json_out_member_int(out, "tokens", (int64_t)tokens);
	json_out_member_int(out, "ask_beats_reading_from_tokens", (int64_t)asking);
	json_out_member_bool(out, "ask_beats_reading", tokens >= asking);
}

static void write_refused(const struct bundle *bundle, struct json_out *out)
{
	size_t i;

	json_out_key(out, "refused_entries");
	json_out_begin_array(out);
	for (i = 0; i < bundle->refused_count && i < BUNDLE_REFUSED; i++) {
		struct str target = bundle->refused[i].target;

		json_out_begin_object(out);
		bundle_write_name(out, "page", bundle->refused[i].page);
		bundle_write_name(out, "target", (struct str){target.bytes, target.len < 256 ? target.len : 256});
		json_out_member_text(out, "code", bundle_result_word(BUNDLE_CONCEPT_OUTSIDE));
		json_out_end_object(out);
	}
	json_out_end_array(out);
	json_out_member_int(out, "refused_entry_count", (int64_t)bundle->refused_count);
}

static int write_card(struct card *card, const struct bundle_found *found, struct json_out *out)
{
	json_out_end_array(&card->fault_out);
	json_out_end_array(&card->broken_out);
	if (buf_error(&card->faults) != 0 || buf_error(&card->broken) != 0)
		return buf_error(&card->faults) != 0 ? buf_error(&card->faults) : buf_error(&card->broken);
	json_out_begin_object(out);
	json_out_member_str(out, "id", found->id);
	json_out_member_text(out, "bundle_ref", card->ref_hex);
	json_out_member_str(out, "title", bundle_title(&card->bundle, found));
	if (card->bundle.okf_version.len > 0)
		json_out_member_str(out, "okf_version", card->bundle.okf_version);
	json_out_member_bool(out, "has_index", card->bundle.has_index);
	write_counts(card, out);
	bundle_tally_write(&card->types, out, "types");
	bundle_tally_write(&card->fields, out, "fields");
	write_states(card, out);
	write_size(card, out);
	json_out_member_raw(out, "faults", buf_str(&card->faults));
	json_out_member_int(out, "fault_count", (int64_t)card->fault_count);
	write_refused(&card->bundle, out);
	json_out_member_raw(out, "broken_links", buf_str(&card->broken));
	json_out_member_int(out, "broken_link_count", (int64_t)card->broken_count);
	bundle_write_bounds(out, NULL, &card->cut);
	json_out_end_object(out);
	return 0;
}

/* 0, a result of enum bundle_result, or -errno. */
static int describe(struct bundle_call *call, const struct bundle_found *found)
{
	CLEANUP(free_drop) struct card *owned = malloc(sizeof(*owned));
	struct card *card = owned;
	int result;

	if (card == NULL)
		return -ENOMEM;
	card_init(card, call);
	result = bundle_call_open(call, found, &card->bundle);
	if (result == 0)
		result = take_all(card);
	if (result == 0)
		result = write_card(card, found, &call->out);
	card_release(card);
	return result;
}

int bundle_run_describe(struct bundle_call *call)
{
	const struct bundle_found *first;
	struct buf faults CLEANUP(buf_release) = {0};
	struct json_out fault_out;
	size_t i, count;
	int result = bundle_call_range(call, &first, &count);

	buf_init(&faults, BUNDLE_ANSWER_BYTES);
	if (result != 0)
		return result;
	json_out_init(&fault_out, &faults);
	json_out_begin_array(&fault_out);
	json_out_begin_object(&call->out);
	json_out_key(&call->out, "cards");
	json_out_begin_array(&call->out);
	for (i = 0; i < count; i++) {
		result = describe(call, &first[i]);
		if (result > 0 && bundle_argument(call, "bundle_id").bytes != NULL)
			return bundle_refuse(call, result, "bundle", first[i].id);
		if (result < 0)
			return result;
		if (result > 0)
			bundle_write_bundle_fault(&fault_out, first[i].id, result);
	}
	json_out_end_array(&call->out);
	json_out_end_array(&fault_out);
	json_out_member_raw(&call->out, "faults", buf_str(&faults));
	bundle_write_bounds(&call->out, &call->finds, &(struct bundle_cut){0});
	json_out_end_object(&call->out);
	return buf_error(&faults);
}
