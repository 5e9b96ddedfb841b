#include "daemon/jobs.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct jobs {
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t changed;
	struct job *first, **last; /* waiting */
	unsigned waiting_limit;
	struct jobs_figures figures;
	bool is_stopping;
	unsigned thread_count;
	pthread_t threads[];
};

/* Under the lock; NULL at the end. */
static struct job *take(struct jobs *jobs)
{
	struct job *job;

	while (!jobs->first && !jobs->is_stopping)
		(void)pthread_cond_wait(&jobs->changed, &jobs->lock);
	job = jobs->is_stopping ? NULL : jobs->first;
	if (!job)
		return NULL;
	jobs->first = job->next;
	if (!jobs->first)
		jobs->last = &jobs->first;
	jobs->figures.waiting--;
	jobs->figures.running++;
	return job;
}

static void *work(void *cls)
{
	struct jobs *jobs = cls;
	struct job *job;

	(void)pthread_mutex_lock(&jobs->lock);
	while ((job = take(jobs)) != NULL) {
		(void)pthread_mutex_unlock(&jobs->lock);
		job->run(job);
		(void)pthread_mutex_lock(&jobs->lock);
		jobs->figures.running--;
		jobs->figures.done++;
	}
	(void)pthread_mutex_unlock(&jobs->lock);
	return NULL;
}

int jobs_new(unsigned threads, unsigned waiting_limit, struct jobs **ret)
{
	struct jobs *jobs = calloc(1, sizeof(*jobs) + (threads ? threads : 1) * sizeof(pthread_t));
	int result = 0;

	if (!jobs)
		return -ENOMEM;
	(void)pthread_mutex_init(&jobs->lock, NULL);
	(void)pthread_cond_init(&jobs->changed, NULL);
	jobs->last = &jobs->first;
	jobs->waiting_limit = waiting_limit;
	while (!result && jobs->thread_count < (threads ? threads : 1)) {
		result = -pthread_create(&jobs->threads[jobs->thread_count], NULL, work, jobs);
		jobs->thread_count += !result;
	}
	if (result) {
		jobs_free(jobs);
		return result;
	}
	*ret = jobs;
	return 0;
}

/* A job that a free thread takes at once doesn't wait. */
static bool is_full(const struct jobs *jobs)
{
	uint64_t busy = jobs->figures.running + jobs->figures.waiting;

	return busy >= (uint64_t)jobs->thread_count + jobs->waiting_limit;
}

int jobs_submit(struct jobs *jobs, struct job *job)
{
	int result = 0;

	(void)pthread_mutex_lock(&jobs->lock);
	if (jobs->is_stopping)
		result = JOBS_STOPPING;
	else if (is_full(jobs))
		result = JOBS_FULL;
	if (result) {
		jobs->figures.refused++;
	} else {
		job->next = NULL;
		*jobs->last = job;
		jobs->last = &job->next;
		jobs->figures.waiting++;
		(void)pthread_cond_signal(&jobs->changed);
	}
	(void)pthread_mutex_unlock(&jobs->lock);
	return result;
}

bool jobs_is_stopping(struct jobs *jobs)
{
	bool is_stopping;

	(void)pthread_mutex_lock(&jobs->lock);
	is_stopping = jobs->is_stopping;
	(void)pthread_mutex_unlock(&jobs->lock);
	return is_stopping;
}

void jobs_stop(struct jobs *jobs)
{
	struct job *waiting;

	if (!jobs)
		return;
	(void)pthread_mutex_lock(&jobs->lock);
	jobs->is_stopping = true;
	waiting = jobs->first;
	jobs->first = NULL;
	jobs->last = &jobs->first;
	jobs->figures.waiting = 0;
	(void)pthread_cond_broadcast(&jobs->changed);
	(void)pthread_mutex_unlock(&jobs->lock);
	while (waiting) {
		struct job *next = waiting->next;

		waiting->drop(waiting);
		waiting = next;
	}
	for (unsigned i = 0; i < jobs->thread_count; i++)
		(void)pthread_join(jobs->threads[i], NULL);
	jobs->thread_count = 0;
}

void jobs_free(struct jobs *jobs)
{
	if (!jobs)
		return;
	jobs_stop(jobs);
	(void)pthread_cond_destroy(&jobs->changed);
	(void)pthread_mutex_destroy(&jobs->lock);
	free(jobs);
}

void jobs_figures(struct jobs *jobs, struct jobs_figures *ret)
{
	(void)pthread_mutex_lock(&jobs->lock);
	*ret = jobs->figures;
	(void)pthread_mutex_unlock(&jobs->lock);
}
