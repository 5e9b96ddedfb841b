/* tools_arguments.h - the tables of what the tools take, and their schemas as text; for this room and its tests.
 *
 * The tables decide. The schemas are what clients are told of them; a test holds the two against each other.
 */
#ifndef ADMITD_READER_TOOLS_ARGUMENTS_H
#define ADMITD_READER_TOOLS_ARGUMENTS_H

#include "reader/arguments.h"

enum { TOOLS_INVENTORY_RULES = 6, TOOLS_SEARCH_RULES = 5 };

extern const struct arguments_rule tools_inventory_rules[TOOLS_INVENTORY_RULES];
extern const struct arguments_rule tools_search_rules[TOOLS_SEARCH_RULES];

/* clang-format off */
#define TOOLS_INVENTORY_INPUT \
	"{\"type\":\"object\",\"properties\":{" \
	"\"paths\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1," \
	"\"description\":\"Relative to the root, or absolute and beginning with it; up to 5000 different ones\"}," \
	"\"contents\":{\"type\":\"boolean\",\"description\":\"Give the text of files too (false)\"}," \
	"\"maxContentBytes\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":16777216,\"description\":\"Of one file (1048576)\"}," \
	"\"maxEntries\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":20000,\"description\":\"Of one directory (500)\"}," \
	"\"maxTotalBytes\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":67108864,\"description\":\"Read in the call (8388608)\"}," \
	"\"maxTotalEntries\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":200000," \
	"\"description\":\"Listed in the call (20000)\"}}," \
	"\"required\":[\"paths\"],\"additionalProperties\":false}"

#define TOOLS_SEARCH_INPUT \
	"{\"type\":\"object\",\"properties\":{" \
	"\"pattern\":{\"type\":\"string\",\"minLength\":1,\"description\":\"The exact text, up to 65536 bytes\"}," \
	"\"paths\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1," \
	"\"description\":\"Files and directories to search (the whole root); up to 5000 different ones\"}," \
	"\"max\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":100000,\"description\":\"Matches (200)\"}," \
	"\"maxBytes\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":67108864," \
	"\"description\":\"Of one file; larger ones are counted and skipped (2097152)\"}," \
	"\"maxTotalBytes\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":4294967296," \
	"\"description\":\"Read in the call (268435456)\"}}," \
	"\"required\":[\"pattern\"],\"additionalProperties\":false}"

#define TOOLS_COUNT_SCHEMA "{\"type\":\"integer\",\"minimum\":0}"
#define TOOLS_TEXT_SCHEMA "{\"type\":\"string\"}"

#define TOOLS_INVENTORY_OUTPUT \
	"{\"type\":\"object\",\"properties\":{" \
	"\"targets\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{" \
	"\"path\":" TOOLS_TEXT_SCHEMA "," \
	"\"type\":{\"type\":\"string\",\"enum\":[\"absent\",\"symlink\",\"directory\",\"file\",\"special\",\"unreadable\"]}," \
	"\"resolves\":{\"type\":[\"boolean\",\"null\"],\"description\":\"Of a symlink: false where it dangles\"}," \
	"\"leavesRoot\":{\"type\":\"boolean\",\"description\":\"Of a symlink: it leads outside, where nobody looked\"}," \
	"\"count\":" TOOLS_COUNT_SCHEMA "," \
	"\"entries\":{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"object\",\"properties\":{" \
	"\"name\":" TOOLS_TEXT_SCHEMA ",\"type\":" TOOLS_TEXT_SCHEMA "},\"required\":[\"name\",\"type\"]}}," \
	"\"bytes\":" TOOLS_COUNT_SCHEMA "," \
	"\"lines\":{\"type\":[\"integer\",\"null\"],\"description\":\"Line feeds\"}," \
	"\"binary\":{\"type\":[\"boolean\",\"null\"]}," \
	"\"contents\":{\"type\":[\"string\",\"null\"]}," \
	"\"encoding\":{\"type\":\"string\",\"description\":\"escaped: bytes of the contents stand as \\\\xNN\"}," \
	"\"withheld\":{\"type\":\"string\",\"description\":\"credential_file: not opened\"}," \
	"\"kind\":" TOOLS_TEXT_SCHEMA ",\"reason\":" TOOLS_TEXT_SCHEMA ",\"message\":" TOOLS_TEXT_SCHEMA "," \
	"\"bound\":" TOOLS_TEXT_SCHEMA "},\"required\":[\"path\",\"type\"]}}," \
	"\"counts\":{\"type\":\"object\",\"additionalProperties\":" TOOLS_COUNT_SCHEMA "}," \
	"\"bytesRead\":" TOOLS_COUNT_SCHEMA ",\"entriesListed\":" TOOLS_COUNT_SCHEMA "," \
	"\"bounds\":{\"type\":\"array\",\"items\":" TOOLS_TEXT_SCHEMA "}}," \
	"\"required\":[\"targets\",\"counts\",\"bytesRead\",\"entriesListed\",\"bounds\"],\"additionalProperties\":false}"

#define TOOLS_SEARCH_OUTPUT \
	"{\"type\":\"object\",\"properties\":{" \
	"\"pattern\":{\"type\":\"object\",\"properties\":{\"digest\":" TOOLS_TEXT_SCHEMA ",\"bytes\":" TOOLS_COUNT_SCHEMA "}," \
	"\"required\":[\"digest\",\"bytes\"]}," \
	"\"entriesWalked\":" TOOLS_COUNT_SCHEMA ",\"filesSearched\":" TOOLS_COUNT_SCHEMA ",\"bytesRead\":" TOOLS_COUNT_SCHEMA "," \
	"\"matches\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{" \
	"\"file\":" TOOLS_TEXT_SCHEMA ",\"line\":" TOOLS_COUNT_SCHEMA ",\"offset\":" TOOLS_COUNT_SCHEMA "," \
	"\"snippet\":" TOOLS_TEXT_SCHEMA "},\"required\":[\"file\",\"line\",\"offset\",\"snippet\"]}}," \
	"\"skipped\":{\"type\":\"object\",\"additionalProperties\":" TOOLS_COUNT_SCHEMA "}," \
	"\"notSearched\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{" \
	"\"path\":" TOOLS_TEXT_SCHEMA ",\"reason\":" TOOLS_TEXT_SCHEMA ",\"message\":" TOOLS_TEXT_SCHEMA "}," \
	"\"required\":[\"path\",\"reason\",\"message\"]}}," \
	"\"bounds\":{\"type\":\"array\",\"items\":" TOOLS_TEXT_SCHEMA "}," \
	"\"complete\":{\"type\":\"boolean\"}}," \
	"\"required\":[\"pattern\",\"entriesWalked\",\"filesSearched\",\"bytesRead\",\"matches\",\"skipped\",\"notSearched\"," \
	"\"bounds\",\"complete\"],\"additionalProperties\":false}"
/* clang-format on */

#endif
