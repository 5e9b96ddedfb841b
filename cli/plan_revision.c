#include "cli/plan_revision.h"

#include "cli/document.h"
#include "policy/cleanup.h"

int plan_revision_find(struct cli *cli, const char *task, const char *doing, const char **ret_revision)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	const char *revision = args_text(&cli->args, "plan-revision");
	int result;

	*ret_revision = revision;
	if (revision != NULL)
		return 0;
	result = cli_call(cli, "GET", cli_printf(cli, "/v1/tasks/%s", cli_segment(cli, task)), (struct str){0}, &reply);
	if (result != 0)
		return result;
	revision = document_text(reply.json, "planRevision");
	if (revision == NULL) {
		cli_say("the daemon's answer has no planRevision");
		return CLI_REFUSED;
	}
	*ret_revision = cli_printf(cli, "%s", revision);
	cli_say("%s plan revision %s, the current one", doing, revision);
	return 0;
}
