/* admit.h - the public interface of libadmit: the admission contract of admitd as a library (chapter 1).
 *
 * JSON and a catalog in, a decision out; no file, socket, clock or database, no global state but the compiled
 * patterns of the redactor. Every function may be called from any thread; a catalog is immutable and may be shared.
 *
 *   struct admit_catalog *catalog;
 *   struct admit_fault fault;
 *   char *result;
 *   if (admit_catalog_new(NULL, 0, &catalog, &fault) == 0 &&
 *       admit_evaluate(catalog, text, length, &result, &fault) == 0) {
 *           puts(result);
 *           free(result);
 *   }
 *   admit_catalog_free(catalog);
 *
 * Results: 0 done; ADMIT_REFUSED: the input is not what it must be, and *ret_fault says where and why; negative -errno
 * (-ENOMEM; -EMSGSIZE for a document or result of more than 64 MiB). What ret_x points to is written on success only.
 */
#ifndef ADMIT_H
#define ADMIT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ADMIT_API __attribute__((visibility("default"), warn_unused_result))

enum admit_result { ADMIT_DONE = 0, ADMIT_REFUSED = 1 };

struct admit_catalog;

/* Where and why an input was refused. Never quotes the input. */
struct admit_fault {
	char pointer[256]; /* JSON pointer into a catalog; "" for the whole or where `offset` says more */
	char text[512];
	size_t offset; /* byte offset of a syntax error; 0 otherwise */
};

/* The contract's version (the result's schemaVersion) and the engine's revision: part of a decision's identity (2.1). */
ADMIT_API int admit_contract_version(void);
ADMIT_API int admit_engine_revision(void);

/* Loads and checks a catalog (1.3). `bytes` NULL: the default catalog. The caller owns *ret_catalog. */
ADMIT_API int admit_catalog_new(
	const char *bytes, size_t len, struct admit_catalog **ret_catalog, struct admit_fault *ret_fault);
__attribute__((visibility("default"))) void admit_catalog_free(struct admit_catalog *catalog);

/* "sha256:…" of its canonical bytes; borrowed from the catalog. */
ADMIT_API const char *admit_catalog_digest(const struct admit_catalog *catalog);

/* Decides one document of 1.2 (either spelling) and gives the result of 1.11 as JSON, NUL-ended; the caller frees it. A bad
 * requirement is part of the result; ADMIT_REFUSED means that the text is not JSON, has a key twice or is nested deeper than 64.
 */
ADMIT_API int admit_evaluate(const struct admit_catalog *catalog, const char *json, size_t len, char **ret_result,
	struct admit_fault *ret_fault);

#ifdef __cplusplus
}
#endif

#endif
