/* Codes and what they say: one table. */
#include "reader/bundle.h"

static const struct {
	const char *word;
	const char *text;
} says[BUNDLE_RESULTS] = {
	[BUNDLE_UNKNOWN] = {"bundle_unknown", "isn't here"},
	[BUNDLE_REQUIRED] = {"bundle_required", "bundle_id is required: there may be several bundles"},
	[BUNDLE_AMBIGUOUS] = {"bundle_ambiguous", "names several bundles; okf_list has an id for each"},
	[BUNDLE_UNREADABLE] = {"bundle_unreadable", "can't be read"},
	[BUNDLE_ARGUMENT_INVALID] = {"argument_invalid", "is not what the tool takes"},
	[BUNDLE_CONCEPT_UNKNOWN] = {"concept_unknown", "is named by no index of its bundle"},
	[BUNDLE_CONCEPT_OUTSIDE] = {"concept_outside", "leads out of its bundle"},
	[BUNDLE_CONCEPT_UNREADABLE] = {"concept_unreadable", "is named by an index, but can't be read"},
	[BUNDLE_CONCEPT_NOT_REGULAR] = {"concept_not_regular", "is no regular file"},
	[BUNDLE_CONCEPT_TOO_LARGE] = {"concept_too_large", "is larger than a concept may be"},
	[BUNDLE_CONCEPT_MALFORMED] = {"concept_malformed", "is no text in UTF-8"},
};

const char *bundle_result_word(int result)
{
	CHECK(result > 0 && result < BUNDLE_RESULTS);
	return says[result].word;
}

const char *bundle_result_text(int result)
{
	CHECK(result > 0 && result < BUNDLE_RESULTS);
	return says[result].text;
}
