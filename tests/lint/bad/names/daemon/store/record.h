/* record.h - declares a type whose word the functions of its room may begin with. */
enum record_kind {
	RECORD_NONE,
};
