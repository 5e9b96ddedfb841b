/* said.h - what the module is. */
