# libreader.la: reads inside one root, and nothing else.
noinst_LTLIBRARIES += libreader.la
libreader_la_SOURCES = \
  %D%/arguments.c %D%/arguments.h \
  %D%/contained.c %D%/contained.h %D%/contained_steps.c %D%/contained_steps.h %D%/contained_target.c \
  %D%/credential_file.c %D%/credential_file.h \
  %D%/ignore.c %D%/ignore.h %D%/inventory.c %D%/inventory.h %D%/inventory_folder.c %D%/inventory_folder.h \
  %D%/name.c %D%/name.h \
  %D%/packet.c %D%/packet.h %D%/packet_file.c %D%/packet_judge.c %D%/packet_parts.h \
  %D%/secret_name.c %D%/secret_name.h %D%/seen.c %D%/seen.h %D%/snippet.c %D%/snippet.h \
  %D%/search.c %D%/search.h %D%/search_file.c %D%/search_parts.h %D%/search_write.c %D%/shown.c %D%/shown.h \
  %D%/tools.c %D%/tools.h %D%/tools_arguments.h %D%/walk.c %D%/walk.h %D%/walk_names.c %D%/walk_names.h
libreader_la_SOURCES += \
  %D%/bundle.c %D%/bundle.h %D%/bundle_ask.c %D%/bundle_excerpt.c %D%/bundle_excerpt.h %D%/bundle_call.c %D%/bundle_call.h %D%/bundle_card.c %D%/bundle_concept.c \
  %D%/bundle_fetch.c %D%/bundle_find.c %D%/bundle_find.h %D%/bundle_inside.c %D%/bundle_link.c %D%/bundle_link.h %D%/bundle_list.c \
  %D%/bundle_named.c %D%/bundle_rank.c %D%/bundle_rank.h %D%/bundle_ref.c %D%/bundle_tally.c %D%/bundle_tally.h \
  %D%/bundle_tools.c %D%/bundle_tools.h %D%/bundle_words.c %D%/front_matter.c %D%/front_matter.h \
  %D%/front_matter_parts.h %D%/front_matter_plain.c %D%/front_matter_yaml.c \
  %D%/fold.c %D%/fold.h %D%/fold_table.c %D%/fold_table.h %D%/stem.c %D%/stem.h \
  %D%/terms.c %D%/terms.h %D%/terms_count.c %D%/terms_parts.h
libreader_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS) $(YAML_CFLAGS)
libreader_la_CFLAGS = $(AM_CFLAGS)
libreader_la_LIBADD = libpolicy.la $(JANSSON_LIBS) $(SODIUM_LIBS) -lm $(YAML_LIBS)
