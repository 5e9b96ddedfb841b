# libmcp.la: the protocol and its table, without a transport but for stdio.
noinst_LTLIBRARIES += libmcp.la
libmcp_la_SOURCES = \
  %D%/bundles.c %D%/bundles.h %D%/era.c %D%/mcp.c %D%/mcp.h %D%/parts.h %D%/reading.c %D%/reading.h %D%/schema.c %D%/schema.h %D%/stdio.c %D%/stdio.h %D%/table.c %D%/tool.h %D%/windows.c %D%/windows.h
libmcp_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libmcp_la_CFLAGS = $(AM_CFLAGS)
libmcp_la_LIBADD = libreader.la libpolicy.la $(JANSSON_LIBS)
