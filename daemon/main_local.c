#include "daemon/main_local.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/log.h"

enum { BACKLOG = 512, EVERYBODY = 0666 };

/* A socket that refuses whoever connects is what a daemon left that is gone. Anything else stays where it is. */
static int remove_left_over(const struct sockaddr_un *address)
{
	struct stat status;
	int fd = 0;
	int r = 0;

	if (lstat(address->sun_path, &status) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(status.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	r = connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 || errno != ECONNREFUSED ? -EADDRINUSE
													  : 0;
	(void)close(fd);
	return r != 0 || unlink(address->sun_path) == 0 ? r : -errno;
}

static int open_at(const struct sockaddr_un *address, int *ret_fd)
{
	int r = remove_left_over(address);
	int fd = r == 0 ? socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0) : -1;

	if (r == 0 &&
		(fd < 0 || bind(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 ||
			chmod(address->sun_path, EVERYBODY) != 0 || listen(fd, BACKLOG) != 0))
		r = -errno;
	if (r != 0 && fd >= 0)
		(void)close(fd);
	if (r == 0)
		*ret_fd = fd > STDERR_FILENO ? fd : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return r == 0 && *ret_fd < 0 ? -errno : r;
}

/* Words of roles, or `read` alone; false: anything else. */
static bool read_roles(const char *words, unsigned *ret)
{
	bool reads = false;

	*ret = 0;
	while (*(words += strspn(words, " \t,")) != '\0') {
		struct str word = {words, strcspn(words, " \t,")};
		unsigned role = auth_role_find(word);

		if (role == 0 && !str_is(word, "read"))
			return false;
		reads = reads || role == 0;
		*ret |= role;
		words += word.len;
	}
	return (*ret == 0) == reads;
}

int main_local_peers(const struct config *config, struct auth_peer ret[static CONFIG_PEERS_MAX])
{
	for (size_t i = 0; i < config->peer_count; i++) {
		const struct config_peer *peer = &config->peers[i];

		ret[i].uid = peer->uid;
		if (!read_roles(peer->words, &ret[i].roles)) {
			log_line(LOG_LINE_ERROR, "peers",
				"[peers] %u: roles are planner, approver, executor, operator, auditor, admin, or read "
				"alone",
				peer->uid);
			return EXIT_FAILURE;
		}
		if (ret[i].roles & (AUTH_APPROVER | AUTH_ADMIN))
			log_line(LOG_LINE_WARNING, "peers",
				"whatever runs as uid %u may approve without a token: an agent under that uid too",
				peer->uid);
	}
	return 0;
}

int main_local_open(const struct config *config, int *ret_fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int r = -ENAMETOOLONG;

	*ret_fd = 0;
	if (config->socket == NULL)
		return 0;
	if (strlen(config->socket) < sizeof(address.sun_path)) {
		memcpy(address.sun_path, config->socket, strlen(config->socket));
		r = open_at(&address, ret_fd);
	}
	if (r == 0)
		return 0;
	log_line(LOG_LINE_ERROR, "listen", "%s: %s", config->socket,
		r == -EEXIST ? "there is something that is no socket" : strerrordesc_np(-r));
	return EXIT_FAILURE;
}
