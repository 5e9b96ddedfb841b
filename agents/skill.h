/* skill.h - texts that teach an agent how something is done, made fit to be written out (chapter 5.6).
 *
 * Names and paths come from strangers and become names of files, so they are made of `[A-Za-z0-9._-]` here, segment by segment, and
 * nothing that leads elsewhere or hides is left. What they are written with is run_folder.h. May use policy only. Pure, any thread.
 */
#ifndef ADMITD_AGENTS_SKILL_H
#define ADMITD_AGENTS_SKILL_H

#include "policy/arena.h"
#include "policy/buf.h"

enum {
	SKILLS_LIMIT = 64,
	SKILL_RESOURCES_LIMIT = 256,
	SKILL_BYTES_LIMIT = 1024 * 1024, /* of the instructions, and of each resource */
	SKILL_NAME_LIMIT = 64,
	SKILL_PATH_LIMIT = 512,
	SKILL_DESCRIPTION_LIMIT = 1024, /* characters, as it is written */
};

/* The file that a skill is known by; no resource may be it. */
#define SKILL_MANIFEST "SKILL.md"

struct skill_resource {
	struct str path; /* clean, below the skill's folder */
	struct str content;
};

struct skill {
	struct str name; /* one clean segment */
	struct str description;
	struct str instructions;
	struct skill_resource *resources;
	size_t resource_count;
};

/* The last segment of a path with what may stand in it, without dots in front; "skill" when nothing is left, or for an absent one.
 * Bytes are NULL when memory is out. */
struct str skill_name(struct arena *arena, struct str given);

enum skill_path_result { SKILL_PATH_REFUSED = 1 };

/* A resource's path, cleaned. SKILL_PATH_REFUSED with a literal that says why: it is absolute, has a "..", a backslash or a
 * dot-file in it, is the manifest, or nothing is left. 0, -ENOMEM. */
int skill_path(struct arena *arena, struct str given, struct str *ret, const char **ret_why) MUST_USE;

/* Appends the manifest: quoted front matter with name and description, the latter on one line, and the instructions. */
void skill_write_manifest(const struct skill *skill, struct buf *out);

#endif
