#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>

#include "daemon/audit/audit_verify.h"
#include "daemon/lifecycle/time_text.h"

const char *audit_fault_kind_text(enum audit_fault_kind kind)
{
	static const char *const words[AUDIT_FAULT_KIND_COUNT] = {
		[AUDIT_ROW_CHANGED] = "row_changed",
		[AUDIT_ROW_MISSING] = "row_missing",
		[AUDIT_TAIL_CUT] = "tail_cut",
		[AUDIT_LOG_REWRITTEN] = "log_rewritten",
		[AUDIT_CHECKPOINT_FORGED] = "checkpoint_forged",
		[AUDIT_CHECKPOINT_MISSING] = "checkpoint_missing",
		[AUDIT_RECORD_CHANGED] = "record_changed",
		[AUDIT_RECORD_UNNAMED] = "record_unnamed",
		[AUDIT_EXPORT_DAMAGED] = "export_damaged",
	};

	CHECK(kind < AUDIT_FAULT_KIND_COUNT);
	return words[kind];
}

void audit_verdict_add(
	struct audit_verdict *verdict, enum audit_fault_kind kind, int64_t sequence, const char *format, ...)
{
	struct audit_fault *fault = NULL;
	va_list values;

	if (verdict->fault_count == AUDIT_FAULTS_MAX)
		return;
	fault = &verdict->faults[verdict->fault_count++];
	*fault = (struct audit_fault){.kind = kind, .sequence = sequence};
	va_start(values, format);
	(void)vsnprintf(fault->text, sizeof(fault->text), format, values);
	va_end(values);
}

static void write_faults(const struct audit_verdict *verdict, struct json_out *out)
{
	json_out_key(out, "faults");
	json_out_begin_array(out);
	for (size_t i = 0; i < verdict->fault_count; i++) {
		const struct audit_fault *fault = &verdict->faults[i];

		json_out_begin_object(out);
		json_out_member_text(out, "kind", audit_fault_kind_text(fault->kind));
		if (fault->sequence != 0)
			json_out_member_int(out, "sequence", fault->sequence);
		else
			json_out_member_null(out, "sequence");
		json_out_member_text(out, "detail", fault->text);
		json_out_end_object(out);
	}
	json_out_end_array(out);
}

static void write_warnings(const struct audit_verdict *verdict, struct json_out *out)
{
	json_out_key(out, "warnings");
	json_out_begin_array(out);
	if (!verdict->has_key)
		json_out_text(out,
			"NO SIGNATURE WAS CHECKED: no key is configured or given. Whoever holds the file could have "
			"written "
			"all of it anew; make a key with admitd audit-key and set [audit] key_file");
	else if (!verdict->is_signed)
		json_out_text(out, "the last checkpoint is not signed by a key that is believed");
	if (!verdict->has_export)
		json_out_text(out,
			"NO EXPORTED CHECKPOINT WAS COMPARED: a tail that was cut off together with its checkpoints "
			"can't be "
			"seen; set [audit] export_folder, or give --export");
	if (verdict->head.sequence > verdict->sealed && verdict->fault_count == 0)
		json_out_text(out, "rows behind the last checkpoint are vouched for by the chain alone");
	json_out_end_array(out);
}

void audit_verdict_write(const struct audit_verdict *verdict, struct json_out *out)
{
	char hex[2 * STORE_HASH_BYTES + 1];

	(void)sodium_bin2hex(hex, sizeof(hex), verdict->head.hash, sizeof(verdict->head.hash));
	json_out_member_bool(out, "ok", verdict->fault_count == 0 && !verdict->is_cancelled);
	json_out_member_text(out, "storeId", verdict->store_id);
	json_out_member_int(out, "rows", (int64_t)verdict->rows);
	json_out_member_int(out, "firstSequence", verdict->first);
	json_out_key(out, "head");
	json_out_begin_object(out);
	json_out_member_int(out, "sequence", verdict->head.sequence);
	json_out_member_text(out, "hash", hex);
	json_out_end_object(out);
	json_out_member_int(out, "records", (int64_t)verdict->records);
	json_out_member_int(out, "checkpoints", (int64_t)verdict->checkpoints);
	json_out_member_int(out, "signedCheckpoints", (int64_t)verdict->signed_checkpoints);
	json_out_member_int(out, "exportedCheckpoints", (int64_t)verdict->exported_checkpoints);
	json_out_member_int(out, "sealedThrough", verdict->sealed);
	time_text_member(out, "sealedAt", verdict->sealed_at);
	json_out_member_bool(out, "signed", verdict->is_signed);
	write_faults(verdict, out);
	write_warnings(verdict, out);
}
