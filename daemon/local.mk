# daemon

# liblog.la is the one way in which every room of the daemon says something.
noinst_LTLIBRARIES += liblog.la
liblog_la_SOURCES = %D%/log.c %D%/log.h
