/* okf_list, and the identity of a bundle. */
#include "policy/cleanup.h"
#include "reader/bundle_call.h"

struct listed {
	size_t concepts;
	char ref[BUNDLE_REF_HEX + 1];
};

static bool is_page(struct str path)
{
	return path.len > 3 && str_is((struct str){path.bytes + path.len - 3, 3}, ".md");
}

static int count(const struct bundle *bundle, struct listed *ret)
{
	CLEANUP(bundle_ref_free) struct bundle_ref *ref = NULL;
	struct buf text CLEANUP(buf_release) = {0};
	int result = bundle_ref_new(&ref);
	size_t i;

	buf_init(&text, bundle->concept_bytes + 1);
	for (i = 0; i < bundle->file_count && result >= 0; i++) {
		const struct bundle_file *file = &bundle->files[i];

		if (!is_page(file->path))
			continue;
		ret->concepts += bundle_is_concept(file->path);
		result = bundle_page_read(bundle, file, &text);
		if (result >= 0)
			bundle_ref_add(ref, file, result, buf_str(&text));
	}
	if (result < 0)
		return result;
	bundle_ref_end(ref, ret->ref);
	return 0;
}

/* 0, a result of enum bundle_result, or -errno. */
static int write_one(struct bundle_call *call, const struct bundle_found *found, struct bundle_cut *cut)
{
	struct bundle bundle CLEANUP(bundle_release) = {0};
	struct listed listed = {0};
	int result = bundle_call_open(call, found, &bundle);

	if (result == 0)
		result = count(&bundle, &listed);
	if (result != 0)
		return result;
	bundle_cut_by(cut, &bundle);
	json_out_begin_object(&call->out);
	json_out_member_str(&call->out, "id", found->id);
	json_out_member_text(&call->out, "bundle_ref", listed.ref);
	json_out_member_str(&call->out, "title", bundle_title(&bundle, found));
	json_out_member_int(&call->out, "concepts", (int64_t)listed.concepts);
	json_out_end_object(&call->out);
	return 0;
}

int bundle_run_list(struct bundle_call *call)
{
	struct buf faults CLEANUP(buf_release) = {0};
	struct bundle_cut cut = {0};
	struct json_out fault_out;
	size_t i;

	buf_init(&faults, BUNDLE_ANSWER_BYTES);
	json_out_init(&fault_out, &faults);
	json_out_begin_array(&fault_out);
	json_out_begin_object(&call->out);
	json_out_key(&call->out, "bundles");
	json_out_begin_array(&call->out);
	for (i = 0; i < call->finds.count; i++) {
		int result = write_one(call, &call->finds.items[i], &cut);

		if (result < 0)
			return result;
		if (result > 0)
			bundle_write_bundle_fault(&fault_out, call->finds.items[i].id, result);
	}
	json_out_end_array(&call->out);
	json_out_end_array(&fault_out);
	json_out_member_raw(&call->out, "faults", buf_str(&faults));
	bundle_write_bounds(&call->out, &call->finds, &cut);
	json_out_end_object(&call->out);
	return buf_error(&faults);
}
