#include "cli/credential.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/document.h"
#include "policy/cleanup.h"

enum { TOKEN_LIMIT = 256, TOKEN_FILE_LIMIT = 4096 };

/* What the daemon calls it in its state folder. */
static const char admin_token_file[] = "admin.token";

void credential_drop(char **token)
{
	if (*token != NULL)
		explicit_bzero(*token, strlen(*token));
	free(*token);
	*token = NULL;
}

static void secret_drop(struct buf *buf)
{
	if (buf->bytes != NULL)
		explicit_bzero(buf->bytes, buf->len);
	buf_release(buf);
}

static bool is_token(struct str text)
{
	if (text.len == 0 || text.len > TOKEN_LIMIT)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		if (!isalnum((unsigned char)text.bytes[i]) && strchr("-._~+/=", text.bytes[i]) == NULL)
			return false;
	}
	return true;
}

static int token_take(const char *from, struct str text, char **ret_token)
{
	while (text.len > 0 && isspace((unsigned char)text.bytes[text.len - 1]))
		text.len--;
	if (!is_token(text)) {
		cli_say("%s: holds no token", from);
		return CLI_USAGE;
	}
	*ret_token = strndup(text.bytes, text.len);
	return *ret_token == NULL ? cli_say_error(from, -ENOMEM) : 0;
}

static int token_from_file(const char *path, char **ret_token)
{
	CLEANUP(secret_drop) struct buf bytes = {0};
	struct stat status;
	int error;

	buf_init(&bytes, TOKEN_FILE_LIMIT);
	error = document_read(path, &bytes);
	if (error < 0)
		return cli_say_error(path, error);
	if (strcmp(path, "-") != 0 && stat(path, &status) == 0 && (status.st_mode & (S_IRGRP | S_IROTH)) != 0)
		cli_say("%s: others can read this token; chmod 600 it", path);
	return token_take(path, buf_str(&bytes), ret_token);
}

int credential_read(const struct args *args, char **ret_token)
{
	const char *path = args_text(args, "token-file");
	const char *folder = args_text(args, "state");
	const char *text = getenv("ADMITD_TOKEN");
	CLEANUP(free_drop) char *joined = NULL;

	*ret_token = NULL;
	if (path != NULL)
		return token_from_file(path, ret_token);
	if (folder != NULL) {
		if (asprintf(&joined, "%s/%s", folder, admin_token_file) < 0) {
			joined = NULL;
			return cli_say_error(folder, -ENOMEM);
		}
		return token_from_file(joined, ret_token);
	}
	if (text == NULL || *text == '\0')
		return 0;
	return token_take("ADMITD_TOKEN", (struct str){text, strlen(text)}, ret_token);
}
