/* grant_rows.h - declares the type whose word its functions may begin with. */
enum record_kind {
	RECORD_NONE,
};
