#include "policy/catalog_diff.h"

#include "policy/capability.h"

/* ---- servers */

static void write_missing_mcps(
	const char *key, const struct catalog *of, const struct catalog *in, struct json_out *out)
{
	json_out_key(out, key);
	json_out_begin_array(out);
	for (size_t i = 0; i < of->mcp_count; i++) {
		if (!catalog_find_mcp(in, of->mcps[i].id))
			json_out_str(out, of->mcps[i].id);
	}
	json_out_end_array(out);
}

static bool has_same_remediation(const struct catalog_mcp *a, const struct catalog_mcp *b)
{
	if (a->remediation_count != b->remediation_count)
		return false;
	for (size_t i = 0; i < a->remediation_count; i++) {
		if (!str_equal(a->remediations[i].text, catalog_find_remediation(b, a->remediations[i].status)))
			return false;
	}
	return true;
}

static bool is_same_mcp(const struct catalog_mcp *a, const struct catalog_mcp *b)
{
	return a->delivery == b->delivery && a->health_gated == b->health_gated && a->recommended == b->recommended &&
		a->requires_auth == b->requires_auth && str_equal(a->root_resource, b->root_resource) &&
		str_equal(a->display_name, b->display_name) && str_equal(a->description, b->description) &&
		has_same_remediation(a, b);
}

static void write_changed_mcps(const struct catalog *before, const struct catalog *after, struct json_out *out)
{
	json_out_key(out, "changed");
	json_out_begin_array(out);
	for (size_t i = 0; i < before->mcp_count; i++) {
		const struct catalog_mcp *now = catalog_find_mcp(after, before->mcps[i].id);

		if (now && !is_same_mcp(&before->mcps[i], now))
			json_out_str(out, before->mcps[i].id);
	}
	json_out_end_array(out);
}

/* ---- capabilities */

static const struct catalog_capability *find_capability(
	const struct catalog *catalog, struct str mcp_id, struct str name)
{
	const struct catalog_mcp *mcp = catalog_find_mcp(catalog, mcp_id);

	return mcp ? catalog_find_capability(mcp, name) : NULL;
}

static void write_missing_capabilities(
	const char *key, const struct catalog *of, const struct catalog *in, struct json_out *out)
{
	json_out_key(out, key);
	json_out_begin_array(out);
	for (size_t i = 0; i < of->mcp_count; i++) {
		const struct catalog_mcp *mcp = &of->mcps[i];

		for (size_t j = 0; j < mcp->capability_count; j++) {
			if (find_capability(in, mcp->id, mcp->capabilities[j].name))
				continue;
			json_out_begin_object(out);
			json_out_member_str(out, "capability", mcp->capabilities[j].name);
			json_out_member_text(out, "class", capability_class_name(mcp->capabilities[j].class));
			json_out_end_object(out);
		}
	}
	json_out_end_array(out);
}

static void write_reclassified(const struct catalog *before, const struct catalog *after, struct json_out *out)
{
	json_out_key(out, "reclassified");
	json_out_begin_array(out);
	for (size_t i = 0; i < before->mcp_count; i++) {
		const struct catalog_mcp *mcp = &before->mcps[i];

		for (size_t j = 0; j < mcp->capability_count; j++) {
			const struct catalog_capability *old = &mcp->capabilities[j];
			const struct catalog_capability *now = find_capability(after, mcp->id, old->name);

			if (!now || now->class == old->class)
				continue;
			json_out_begin_object(out);
			json_out_member_str(out, "capability", old->name);
			json_out_member_text(out, "before", capability_class_name(old->class));
			json_out_member_text(out, "after", capability_class_name(now->class));
			json_out_end_object(out);
		}
	}
	json_out_end_array(out);
}

/* ---- aliases */

static bool has_alias(const struct catalog *catalog, struct str mcp_id, const struct catalog_alias *alias)
{
	const struct catalog_mcp *mcp = catalog_find_mcp(catalog, mcp_id);
	const struct catalog_capability *to = mcp ? catalog_find_alias(mcp, alias->from) : NULL;

	return to && str_equal(to->name, alias->to->name);
}

static void write_missing_aliases(
	const char *key, const struct catalog *of, const struct catalog *in, struct json_out *out)
{
	json_out_key(out, key);
	json_out_begin_array(out);
	for (size_t i = 0; i < of->mcp_count; i++) {
		const struct catalog_mcp *mcp = &of->mcps[i];

		for (size_t j = 0; j < mcp->alias_count; j++) {
			if (has_alias(in, mcp->id, &mcp->aliases[j]))
				continue;
			json_out_begin_object(out);
			json_out_member_str(out, "alias", mcp->aliases[j].from);
			json_out_member_str(out, "capability", mcp->aliases[j].to->name);
			json_out_end_object(out);
		}
	}
	json_out_end_array(out);
}

void catalog_diff_write(const struct catalog *before, const struct catalog *after, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_key(out, "mcps");
	json_out_begin_object(out);
	write_missing_mcps("added", after, before, out);
	write_missing_mcps("removed", before, after, out);
	write_changed_mcps(before, after, out);
	json_out_end_object(out);
	json_out_key(out, "capabilities");
	json_out_begin_object(out);
	write_missing_capabilities("added", after, before, out);
	write_missing_capabilities("removed", before, after, out);
	write_reclassified(before, after, out);
	json_out_end_object(out);
	json_out_key(out, "aliases");
	json_out_begin_object(out);
	write_missing_aliases("added", after, before, out);
	write_missing_aliases("removed", before, after, out);
	json_out_end_object(out);
	json_out_end_object(out);
}
