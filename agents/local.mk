# libagents.la: tool-server specs at the boundary, sealed credentials, and what daemon and prober say to each other.
noinst_LTLIBRARIES += libagents.la
libagents_la_SOURCES = \
  %D%/agent_config.c %D%/agent_config.h %D%/job.c %D%/job.h %D%/job_private.h %D%/job_server.c %D%/job_skill.c \
  %D%/run_folder.c %D%/run_folder.h %D%/run_folder_files.c %D%/skill.c %D%/skill.h \
  %D%/import.c %D%/import.h %D%/import_entry.c %D%/import_entry.h %D%/import_risk.c \
  %D%/package_ref.c %D%/package_ref.h %D%/json_edit.c %D%/json_edit.h %D%/json_scan.c %D%/json_scan.h %D%/project_file.c %D%/project_file.h \
  %D%/register.c %D%/register.h %D%/register_edit.c %D%/register_edit.h \
  %D%/probe_message.c %D%/probe_message.h %D%/seal.c %D%/seal.h %D%/secret_filter.c %D%/secret_filter.h %D%/secret_mask.c %D%/secret_mask.h \
  %D%/toml_read.c %D%/toml_read.h %D%/toml_value.c %D%/toml_value.h \
  %D%/spec.h %D%/spec_forms.c %D%/spec_read.c %D%/url_rule.c %D%/url_rule.h
libagents_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS)
libagents_la_CFLAGS = $(AM_CFLAGS)
libagents_la_LIBADD = libpolicy.la $(JANSSON_LIBS) $(SODIUM_LIBS)

# What a spec and a job body look like, for editors and other programs.
dist_pkgdata_DATA = docs/job.schema.json docs/spec.schema.json
