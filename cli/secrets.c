#include "cli/secrets.h"

#include <errno.h>

#include "cli/body.h"
#include "policy/cleanup.h"

int secrets_add(struct cli *cli, struct secrets *secrets, struct str secret, const char *what)
{
	if (secret.len < SPEC_SECRET_LEAST) {
		cli_say("%s: a secret has %d characters or more, or it can't be kept out of texts", what,
			SPEC_SECRET_LEAST);
		return CLI_USAGE;
	}
	if (secrets->count == SECRETS_MOST) {
		cli_say("%s: more than %d secrets", what, SECRETS_MOST);
		return CLI_USAGE;
	}
	secrets->items[secrets->count] = arena_str(&cli->arena, secret);
	if (secrets->items[secrets->count].bytes == NULL)
		return cli_say_error(what, -ENOMEM);
	secrets->count++;
	return 0;
}

int secrets_add_file(struct cli *cli, struct secrets *secrets, const char *path)
{
	CLEANUP(json_drop) json_t *array = NULL;
	const json_t *item;
	size_t index;
	int result = body_read_file(path, &array);

	if (result != 0)
		return result;
	if (!json_is_array(array)) {
		cli_say("%s: not a JSON array of texts", path);
		return CLI_USAGE;
	}
	json_array_foreach(array, index, item)
	{
		if (!json_is_string(item)) {
			cli_say("%s: item %zu is not a text", path, index);
			return CLI_USAGE;
		}
		result = secrets_add(cli, secrets, (struct str){json_string_value(item), json_string_length(item)},
			cli_printf(cli, "%s, item %zu", path, index));
		if (result != 0)
			return result;
	}
	return 0;
}

int secrets_mask(struct cli *cli, const struct secrets *secrets, struct secret_mask *ret)
{
	int r = secret_mask_of(ret, &cli->arena, secrets->items, secrets->count);

	return r == 0 ? 0 : cli_say_error("the secrets", r);
}
