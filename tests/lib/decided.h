/* decided.h - for tests: a document decided with the default catalog, and short ways to write one. */
#ifndef ADMITD_TESTS_LIB_DECIDED_H
#define ADMITD_TESTS_LIB_DECIDED_H

#include <jansson.h>

#include "policy/admission.h"

/* A decision over a document, with all that it borrows. */
struct decided {
	struct catalog *catalog;
	json_t *document;
	struct package *package;
	struct arena arena;
	struct admission_inputs inputs;
	struct admission admission;
};

/* With `catalog` NULL the default one; the struct owns it from then on. Ends the test where anything fails. */
void decide_with(struct decided *decided, struct catalog *catalog, const char *json);
void decide(struct decided *decided, const char *json);
void decided_release(struct decided *decided);

#define POLICY(key, agent, mcp, level, action, capabilities)                                                      \
	"{\"requirementKey\":\"" key "\",\"sourceRequirementIndex\":0,\"agent\":\"" agent "\",\"mcpId\":\"" mcp   \
	"\",\"requirement\":\"" level "\",\"capabilities\":[" capabilities "],\"fallback\":{\"action\":\"" action \
	"\"},\"assignment\":{\"type\":\"agent\",\"targetId\":null}}"
#define READ "\"filesystem.project.read\""
#define LIST "\"filesystem.project.list\""
#define APPROVED(extra)                                                                                              \
	"{\"phase\":\"approved\",\"source\":\"package-local\",\"status\":\"approved\",\"grantMode\":\"allow_once\"," \
	"\"grantApprovalId\":\"grt_1\",\"coveredCapabilities\":[" READ "]" extra "}"
#define PROPOSED "{\"phase\":\"proposed\",\"source\":\"none\",\"status\":\"not_issued\",\"coveredCapabilities\":[]}"
#define HEALTH(status, checked)                                                                                    \
	"\"health\":{\"filesystem\":{\"mcpId\":\"filesystem\",\"installState\":\"installed\",\"status\":\"" status \
	"\",\"enabled\":true,\"error\":null,\"checkedAt\":\"" checked "\"}}"
#define ONE(grant, health)                                                                                      \
	"{\"entries\":[" POLICY("k", "a", "filesystem", "required", "block", READ) "],\"grants\":{\"k\":" grant \
										   "}," health "}"

#endif
