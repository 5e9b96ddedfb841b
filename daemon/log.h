/* log.h - the one way in which the daemon says something: a line on standard error.
 *
 * A line is `admitd: LEVEL EVENT text`, written with one write(2), so that lines of several threads do not mix.
 * Whatever is put into the text, the line stays one line: control bytes, escape sequences and everything outside
 * ASCII are written as \xNN. Secrets, bodies and tokens are never given to it. Thread-safe.
 */
#ifndef ADMITD_DAEMON_LOG_H
#define ADMITD_DAEMON_LOG_H

enum log_level {
	LOG_LINE_ERROR = 0, /* something is broken and somebody should look */
	LOG_LINE_WARNING,   /* odd, but handled */
	LOG_LINE_INFO,
	LOG_LINE_DEBUG,
};

enum { LOG_LINE_MAX = 2048 };

/* What is less important than `level` is not written; at first LOG_LINE_INFO. */
void log_set_level(enum log_level level);

/* `event` is a word of ours, such as "request". Text beyond LOG_LINE_MAX is cut. */
void log_line(enum log_level level, const char *event, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
