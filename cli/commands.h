/* commands.h - the commands of admitctl, one cmd_*.c each; main.c puts them into order.
 */
#ifndef ADMITD_CLI_COMMANDS_H
#define ADMITD_CLI_COMMANDS_H

#include "cli/cli.h"

extern const struct cli_command cmd_approve;
extern const struct cli_command cmd_cancel;
extern const struct cli_command cmd_audit_verify;
extern const struct cli_command cmd_backup;
extern const struct cli_command cmd_bundle_ask;
extern const struct cli_command cmd_bundle_card;
extern const struct cli_command cmd_bundle_fetch;
extern const struct cli_command cmd_bundle_list;
extern const struct cli_command cmd_catalog_check;
extern const struct cli_command cmd_catalog_liveness;
extern const struct cli_command cmd_catalog_put;
extern const struct cli_command cmd_catalog_show;
extern const struct cli_command cmd_changes;
extern const struct cli_command cmd_deny;
extern const struct cli_command cmd_doctor;
extern const struct cli_command cmd_evaluate;
extern const struct cli_command cmd_explain;
extern const struct cli_command cmd_grant;
extern const struct cli_command cmd_handoff;
extern const struct cli_command cmd_health_list;
extern const struct cli_command cmd_health_report;
extern const struct cli_command cmd_heartbeat;
extern const struct cli_command cmd_import;
extern const struct cli_command cmd_inventory;
extern const struct cli_command cmd_materialize;
extern const struct cli_command cmd_mcp;
extern const struct cli_command cmd_outcome;
extern const struct cli_command cmd_preview;
extern const struct cli_command cmd_project_archive;
extern const struct cli_command cmd_project_list;
extern const struct cli_command cmd_project_set;
extern const struct cli_command cmd_project_show;
extern const struct cli_command cmd_project_unarchive;
extern const struct cli_command cmd_recovery;
extern const struct cli_command cmd_redact;
extern const struct cli_command cmd_register;
extern const struct cli_command cmd_reject;
extern const struct cli_command cmd_retry;
extern const struct cli_command cmd_rejudge;
extern const struct cli_command cmd_replay;
extern const struct cli_command cmd_restore;
extern const struct cli_command cmd_revoke;
extern const struct cli_command cmd_rework;
extern const struct cli_command cmd_search;
extern const struct cli_command cmd_server_check;
extern const struct cli_command cmd_server_list;
extern const struct cli_command cmd_server_remove;
extern const struct cli_command cmd_server_set;
extern const struct cli_command cmd_server_show;
extern const struct cli_command cmd_status;
extern const struct cli_command cmd_task_submit;
extern const struct cli_command cmd_test;
extern const struct cli_command cmd_token_create;
extern const struct cli_command cmd_token_list;
extern const struct cli_command cmd_token_revoke;
extern const struct cli_command cmd_watch;

#endif
