/* check.h - assertions about our own code that stay on in release (chapter 3.3).
 *
 * CHECK() states an invariant that no input can break: bytes from a client, a file or the store never
 * reach one. A false CHECK is a bug of ours, and going on would decide something on a broken state, so the
 * process says where and stops. Input faults are results, never CHECKs.
 */
#ifndef ADMITD_POLICY_CHECK_H
#define ADMITD_POLICY_CHECK_H

#define CHECK(condition) ((condition) ? (void)0 : check_failed(#condition, __FILE__, __LINE__))

/* A result that may not be ignored: every function of ours that can fail carries it. */
#define MUST_USE __attribute__((warn_unused_result))

_Noreturn void check_failed(const char *condition, const char *file, int line);

#endif
