/* talks.h - an attribute names printf and calls nothing. */
void talks_about(const char *format, ...) __attribute__((format(printf, 1, 2)));
