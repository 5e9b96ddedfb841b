/* main_doctor.h - a look at the state folder without taking it: what is wrong, and the way out. Part of main.c.
 */
#ifndef ADMITD_DAEMON_MAIN_DOCTOR_H
#define ADMITD_DAEMON_MAIN_DOCTOR_H

#include "daemon/main_audit.h"
#include "daemon/options.h"

/* Prints one finding a line, or JSON. 0: nothing is wrong; 1: something is. Changes nothing; a daemon may be running. */
int main_doctor(const struct options *options, const struct config *config, const struct main_audit *audit,
	const char *state) MUST_USE;

#endif
