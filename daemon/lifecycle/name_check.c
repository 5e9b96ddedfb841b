#include "daemon/lifecycle/name_check.h"

enum { NAME_LIMIT = 64 };

static bool is_lower(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
}

static bool is_name(struct str name, bool takes_upper)
{
	if (name.bytes == NULL || name.len == 0 || name.len > NAME_LIMIT)
		return false;
	for (size_t i = 0; i < name.len; i++) {
		char byte = name.bytes[i];
		bool is_sign = byte == '.' || byte == '_' || byte == '-';

		if (!is_lower(byte) && !(takes_upper && byte >= 'A' && byte <= 'Z') && !(i > 0 && is_sign))
			return false;
	}
	return true;
}

bool name_check_id(struct str name)
{
	return is_name(name, false);
}

bool name_check_label(struct str name)
{
	return is_name(name, true);
}
