#include "daemon/http/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/x509.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "policy/cleanup.h"

enum { FILE_MAX = 256 * 1024, KEY_ID_SIZE = 32 };

const char tls_priorities[] =
	"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:"
	"+AES-128-GCM:%SERVER_PRECEDENCE";

/* A chain and its key. Never changed once it is made; dropped by the last who has it. */
struct identity {
	atomic_uint owners;
	gnutls_pcert_st *chain;
	unsigned count;
	gnutls_privkey_t key;
	int64_t ends_at;
};

struct tls {
	const char *certificate_file;
	const char *key_file;
	pthread_mutex_t lock; /* of what follows */
	struct identity *current;
};

struct tls_peer {
	struct tls *tls;
	gnutls_session_t session;
	struct identity *shown;
	void (*on_ready)(void *cls);
	void *cls;
};

static void identity_drop(struct identity **at)
{
	struct identity *identity = TAKE(*at);

	if (identity == NULL || atomic_fetch_sub(&identity->owners, 1) > 1)
		return;
	for (unsigned i = 0; i < identity->count; i++)
		gnutls_pcert_deinit(&identity->chain[i]);
	free(identity->chain);
	gnutls_privkey_deinit(identity->key);
	free(identity);
}

static struct identity *take_current(struct tls *tls)
{
	struct identity *identity;

	(void)pthread_mutex_lock(&tls->lock);
	identity = tls->current;
	atomic_fetch_add(&identity->owners, 1);
	(void)pthread_mutex_unlock(&tls->lock);
	return identity;
}

/* ---- reading */

__attribute__((format(printf, 2, 3))) static int refuse(struct tls_fault *fault, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(fault->text, sizeof(fault->text), format, args);
	va_end(args);
	return TLS_REFUSED;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

/* A file's bytes; wiped, as one of the two is a secret. */
struct bytes {
	unsigned char *data;
	size_t len;
};

static void bytes_drop(struct bytes *bytes)
{
	if (bytes->data != NULL)
		explicit_bzero(bytes->data, bytes->len);
	free(bytes->data);
}

static int read_file(const char *path, mode_t refused_mode, struct bytes *ret, struct tls_fault *fault)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat status;
	ssize_t got = 1;

	if (fd < 0 || fstat(fd, &status) != 0)
		return refuse(fault, "%s: can't be read: %s", path, strerrordesc_np(errno));
	if (!S_ISREG(status.st_mode) || status.st_size > FILE_MAX)
		return refuse(fault, "%s: is no file, or larger than %d bytes", path, FILE_MAX);
	if ((status.st_mode & refused_mode) != 0)
		return refuse(
			fault, "%s: others can read or write it; chmod 600 it, or 640 with a group of its own", path);
	ret->data = malloc(FILE_MAX);
	if (ret->data == NULL)
		return -ENOMEM;
	while (got > 0 && ret->len < FILE_MAX) {
		got = read(fd, ret->data + ret->len, FILE_MAX - ret->len);
		ret->len += got > 0 ? (size_t)got : 0;
	}
	return got < 0 ? refuse(fault, "%s: can't be read: %s", path, strerrordesc_np(errno)) : 0;
}

/* What is read and not yet taken over by an identity. */
struct parts {
	gnutls_x509_crt_t *certificates;
	unsigned count;
	gnutls_x509_privkey_t key;
};

static void parts_drop(struct parts *parts)
{
	for (unsigned i = 0; i < parts->count; i++)
		gnutls_x509_crt_deinit(parts->certificates[i]);
	gnutls_free(parts->certificates);
	gnutls_x509_privkey_deinit(parts->key);
}

static int read_certificates(const char *path, struct parts *parts, struct tls_fault *fault)
{
	CLEANUP(bytes_drop) struct bytes bytes = {0};
	gnutls_datum_t datum;
	int r = read_file(path, 0, &bytes, fault);

	if (r != 0)
		return r;
	datum = (gnutls_datum_t){bytes.data, (unsigned)bytes.len};
	r = gnutls_x509_crt_list_import2(&parts->certificates, &parts->count, &datum, GNUTLS_X509_FMT_PEM,
		GNUTLS_X509_CRT_LIST_FAIL_IF_UNSORTED);
	if (r >= 0 && parts->count > 0)
		return 0;
	parts->certificates = NULL;
	parts->count = 0;
	if (r == GNUTLS_E_MEMORY_ERROR)
		return -ENOMEM;
	if (r == GNUTLS_E_CERTIFICATE_LIST_UNSORTED)
		return refuse(fault,
			"%s: its certificates are not in order: the server's own is the first, and behind each the one "
			"that issued it",
			path);
	return refuse(fault, "%s: holds no certificate in PEM that can be read", path);
}

static int read_key(const char *path, struct parts *parts, struct tls_fault *fault)
{
	CLEANUP(bytes_drop) struct bytes bytes = {0};
	gnutls_datum_t datum;
	int r = read_file(path, S_IRWXO | S_IWGRP, &bytes, fault);

	if (r != 0)
		return r;
	datum = (gnutls_datum_t){bytes.data, (unsigned)bytes.len};
	if (gnutls_x509_privkey_init(&parts->key) < 0)
		return -ENOMEM;
	r = gnutls_x509_privkey_import2(parts->key, &datum, GNUTLS_X509_FMT_PEM, NULL, 0);
	if (r == GNUTLS_E_MEMORY_ERROR)
		return -ENOMEM;
	if (r == GNUTLS_E_DECRYPTION_FAILED)
		return refuse(fault,
			"%s: is locked by a password, which nobody is there to give; write it without one (openssl "
			"pkey -in FILE -out NEW)",
			path);
	return r < 0 ? refuse(fault, "%s: holds no private key in PEM that can be read", path) : 0;
}

/* ---- judging */

static int check_match(const struct tls *tls, const struct parts *parts, struct tls_fault *fault)
{
	unsigned char of_certificate[KEY_ID_SIZE];
	unsigned char of_key[KEY_ID_SIZE];
	size_t size = KEY_ID_SIZE;
	size_t key_size = KEY_ID_SIZE;

	if (gnutls_x509_crt_get_key_id(parts->certificates[0], GNUTLS_KEYID_USE_SHA256, of_certificate, &size) == 0 &&
		gnutls_x509_privkey_get_key_id(parts->key, GNUTLS_KEYID_USE_SHA256, of_key, &key_size) == 0 &&
		size == key_size && memcmp(of_certificate, of_key, size) == 0)
		return 0;
	return refuse(fault, "%s is not the key of the first certificate in %s", tls->key_file, tls->certificate_file);
}

static void write_time(time_t at, char ret_text[static 32])
{
	struct tm parts;

	if (gmtime_r(&at, &parts) == NULL || strftime(ret_text, 32, "%Y-%m-%d %H:%M UTC", &parts) == 0)
		(void)snprintf(ret_text, 32, "no time");
}

/* Those behind the first are the client's to judge: it may know another way to a root. */
static int check_time(const struct tls *tls, const struct parts *parts, struct tls_fault *fault)
{
	time_t begin = gnutls_x509_crt_get_activation_time(parts->certificates[0]);
	time_t end = gnutls_x509_crt_get_expiration_time(parts->certificates[0]);
	time_t now = time(NULL);
	char text[32];

	if (end <= now) {
		write_time(end, text);
		return refuse(fault, "%s: expired at %s; put a new certificate there, and its key into %s",
			tls->certificate_file, text, tls->key_file);
	}
	if (begin > now) {
		write_time(begin, text);
		return refuse(fault, "%s: is valid from %s on only; is this machine's clock right?",
			tls->certificate_file, text);
	}
	return 0;
}

/* ---- an identity */

static int take_over(struct parts *parts, struct identity *identity)
{
	identity->chain = calloc(parts->count, sizeof(*identity->chain));
	if (identity->chain == NULL || gnutls_privkey_init(&identity->key) < 0)
		return -ENOMEM;
	for (; identity->count < parts->count; identity->count++)
		if (gnutls_pcert_import_x509(
			    &identity->chain[identity->count], parts->certificates[identity->count], 0) < 0)
			return -ENOMEM;
	if (gnutls_privkey_import_x509(identity->key, parts->key, GNUTLS_PRIVKEY_IMPORT_AUTO_RELEASE) < 0)
		return -ENOMEM;
	parts->key = NULL;
	identity->ends_at = (int64_t)gnutls_x509_crt_get_expiration_time(parts->certificates[0]) * 1000;
	return 0;
}

static int read_identity(const struct tls *tls, struct identity **ret, struct tls_fault *fault)
{
	CLEANUP(parts_drop) struct parts parts = {0};
	CLEANUP(identity_drop) struct identity *identity = calloc(1, sizeof(*identity));
	int r = identity != NULL ? read_certificates(tls->certificate_file, &parts, fault) : -ENOMEM;

	if (r == 0)
		r = read_key(tls->key_file, &parts, fault);
	if (r == 0)
		r = check_match(tls, &parts, fault);
	if (r == 0)
		r = check_time(tls, &parts, fault);
	if (r == 0)
		r = take_over(&parts, identity);
	if (r != 0)
		return r;
	atomic_store(&identity->owners, 1);
	*ret = TAKE(identity);
	return 0;
}

int tls_reload(struct tls *tls, struct tls_fault *ret_fault)
{
	CLEANUP(identity_drop) struct identity *fresh = NULL;
	struct identity *before;
	int r = read_identity(tls, &fresh, ret_fault);

	if (r != 0)
		return r;
	(void)pthread_mutex_lock(&tls->lock);
	before = tls->current;
	tls->current = TAKE(fresh);
	(void)pthread_mutex_unlock(&tls->lock);
	identity_drop(&before);
	return 0;
}

void tls_free(struct tls *tls)
{
	if (tls == NULL)
		return;
	identity_drop(&tls->current);
	(void)pthread_mutex_destroy(&tls->lock);
	free(tls);
}

static void tls_drop(struct tls **tls)
{
	tls_free(*tls);
}

int tls_new(const char *certificate_file, const char *key_file, struct tls **ret, struct tls_fault *ret_fault)
{
	CLEANUP(tls_drop) struct tls *tls = calloc(1, sizeof(*tls));
	int r;

	if (tls == NULL)
		return -ENOMEM;
	tls->certificate_file = certificate_file;
	tls->key_file = key_file;
	(void)pthread_mutex_init(&tls->lock, NULL);
	r = tls_reload(tls, ret_fault);
	if (r == 0)
		*ret = TAKE(tls);
	return r;
}

int64_t tls_ends_at(struct tls *tls)
{
	int64_t ends_at;

	(void)pthread_mutex_lock(&tls->lock);
	ends_at = tls->current->ends_at;
	(void)pthread_mutex_unlock(&tls->lock);
	return ends_at;
}

const char *tls_warning(struct tls *tls, int64_t now)
{
	int64_t left = tls_ends_at(tls) - now;

	if (left <= 0)
		return "the certificate has ended, and clients refuse it: put a new one in its place and send SIGHUP";
	return left < TLS_SOON_DAYS * INT64_C(24) * 3600 * 1000
		? "the certificate ends soon: put a new one in its place and send SIGHUP"
		: NULL;
}

/* ---- one connection */

/* The client's Finished is the last of a handshake, whatever the version. */
static int on_finished(
	gnutls_session_t session, unsigned type, unsigned when, unsigned is_incoming, const gnutls_datum_t *message)
{
	struct tls_peer *peer = gnutls_session_get_ptr(session);

	(void)type, (void)when, (void)message;
	if (is_incoming)
		peer->on_ready(peer->cls);
	return 0;
}

struct tls_peer *tls_peer_new(struct tls *tls, void *session, void (*on_ready)(void *cls), void *cls)
{
	struct tls_peer *peer = malloc(sizeof(*peer));

	gnutls_session_set_ptr(session, peer);
	if (peer == NULL)
		return NULL;
	*peer = (struct tls_peer){.tls = tls, .session = session, .on_ready = on_ready, .cls = cls};
	gnutls_handshake_set_hook_function(session, GNUTLS_HANDSHAKE_FINISHED, GNUTLS_HOOK_POST, on_finished);
	return peer;
}

void tls_show_nothing(void *session)
{
	gnutls_session_set_ptr(session, NULL);
}

void tls_peer_free(struct tls_peer *peer)
{
	if (peer != NULL)
		identity_drop(&peer->shown);
	free(peer);
}

int tls_peer_send_last(struct tls_peer *peer, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t sent = gnutls_record_send(peer->session, bytes, len);

		if (sent == GNUTLS_E_INTERRUPTED)
			continue;
		if (sent < 0)
			return -EIO;
		bytes += sent;
		len -= (size_t)sent;
	}
	return gnutls_bye(peer->session, GNUTLS_SHUT_WR) == 0 ? 0 : -EIO;
}

int tls_show(gnutls_session_t session, const gnutls_datum_t *roots, int roots_count,
	const gnutls_pk_algorithm_t *algorithms, int algorithms_count, gnutls_pcert_st **ret_chain, unsigned *ret_count,
	gnutls_privkey_t *ret_key)
{
	struct tls_peer *peer = gnutls_session_get_ptr(session);

	(void)roots, (void)roots_count, (void)algorithms, (void)algorithms_count;
	if (peer == NULL)
		return -1;
	if (peer->shown == NULL)
		peer->shown = take_current(peer->tls);
	*ret_chain = peer->shown->chain;
	*ret_count = peer->shown->count;
	*ret_key = peer->shown->key;
	return 0;
}
