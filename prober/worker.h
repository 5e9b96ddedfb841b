/* worker.h - one connection with the daemon: checks are taken, made all at once, and answered (chapter 3.2 "Processes").
 *
 * The process that calls it gives its rights up when the daemon has said hello, and ends with the connection.
 */
#ifndef ADMITD_PROBER_WORKER_H
#define ADMITD_PROBER_WORKER_H

/* Serves until the daemon closes its end or says what isn't understood. An exit status. */
int worker_run(int fd);

#endif
