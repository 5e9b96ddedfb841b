/* former.h - the manual of another module. */
