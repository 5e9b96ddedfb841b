/* package_ref.h - what a command line fetches before it runs it: packages behind launchers, images behind containers (chapter 5.6).
 *
 * `python -m uv tool run office-mcp` runs office-mcp, whatever its newest release is. Launchers are followed through each other: env,
 * python -m, cmd /c. Where nothing is fetched nothing is found. Names are borrowed from what was given. Pure, any thread.
 */
#ifndef ADMITD_AGENTS_PACKAGE_REF_H
#define ADMITD_AGENTS_PACKAGE_REF_H

#include "policy/arena.h"

enum { PACKAGE_REFS_LIMIT = 8 };

enum package_ref_kind {
	PACKAGE_REF_NONE = 0,
	PACKAGE_REF_UNPINNED, /* no exact version */
	PACKAGE_REF_SOURCE,   /* a repository or an address, without a commit */
	PACKAGE_REF_PINNED,
	PACKAGE_REF_SHELL, /* a line of shell: what it fetches isn't known */
	PACKAGE_REF_HOST,  /* a container that gets a folder of the machine, or more */
	PACKAGE_REF_ROOT,  /* sudo and its like */
};

struct package_ref {
	enum package_ref_kind kind;
	struct str name;
};

struct package_refs {
	struct package_ref items[PACKAGE_REFS_LIMIT];
	size_t count;
};

void package_ref_find(struct str command, const struct str *args, size_t count, struct package_refs *ret);

#endif
