#include "tests/fault/fault_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdint.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum fault_kind armed_kind;
static enum fault_file armed_file;
static int calls_left;
static bool is_once;
static bool has_hit;

static void (*copying_hook)(void *arg, enum fault_copying at);
static void *copying_arg;

static sqlite3_vfs *real_vfs;
static sqlite3_vfs fault_vfs;
static sqlite3_mem_methods real_memory;

struct fault_handle {
	sqlite3_file base;
	enum fault_file file;
	sqlite3_file *real; /* lies behind this struct */
};

void fault_arm(enum fault_kind kind, enum fault_file file, int nth, bool once)
{
	(void)pthread_mutex_lock(&lock);
	armed_kind = kind;
	armed_file = file;
	calls_left = nth;
	is_once = once;
	has_hit = false;
	(void)pthread_mutex_unlock(&lock);
}

void fault_disarm(void)
{
	(void)pthread_mutex_lock(&lock);
	armed_kind = FAULT_NONE;
	(void)pthread_mutex_unlock(&lock);
}

bool fault_has_hit(void)
{
	bool hit;

	(void)pthread_mutex_lock(&lock);
	hit = has_hit;
	(void)pthread_mutex_unlock(&lock);
	return hit;
}

/* Counts a call that may fail; true: this one does. */
static bool fails(enum fault_kind kind, enum fault_file file)
{
	bool fail = false;

	(void)pthread_mutex_lock(&lock);
	if (armed_kind == kind && (kind == FAULT_MEMORY || armed_file == file)) {
		calls_left--;
		fail = calls_left == 0 || (calls_left < 0 && !is_once);
		has_hit = has_hit || fail;
	}
	(void)pthread_mutex_unlock(&lock);
	return fail;
}

void fault_on_copying(void (*hook)(void *arg, enum fault_copying at), void *arg)
{
	(void)pthread_mutex_lock(&lock);
	copying_hook = hook;
	copying_arg = arg;
	(void)pthread_mutex_unlock(&lock);
}

static void tell_copying(enum fault_copying at)
{
	void (*hook)(void *arg, enum fault_copying at);
	void *arg;

	(void)pthread_mutex_lock(&lock);
	hook = copying_hook;
	arg = copying_arg;
	(void)pthread_mutex_unlock(&lock);
	if (hook)
		hook(arg, at);
}

static sqlite3_file *real_of(sqlite3_file *file)
{
	return ((struct fault_handle *)file)->real;
}

static enum fault_file sort_of(const sqlite3_file *file)
{
	return ((const struct fault_handle *)file)->file;
}

static int fault_close(sqlite3_file *file)
{
	return real_of(file)->pMethods->xClose(real_of(file));
}

static int fault_read(sqlite3_file *file, void *bytes, int len, sqlite3_int64 at)
{
	return fails(FAULT_READ, sort_of(file)) ? SQLITE_IOERR_READ
						: real_of(file)->pMethods->xRead(real_of(file), bytes, len, at);
}

static int fault_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
	if (fails(FAULT_WRITE, sort_of(file)))
		return SQLITE_IOERR_WRITE;
	if (fails(FAULT_FULL, sort_of(file)))
		return SQLITE_FULL;
	return real_of(file)->pMethods->xWrite(real_of(file), bytes, len, at);
}

static int fault_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int fault_sync(sqlite3_file *file, int flags)
{
	return fails(FAULT_SYNC, sort_of(file)) ? SQLITE_IOERR_FSYNC
						: real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int fault_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
	return real_of(file)->pMethods->xFileSize(real_of(file), ret_size);
}

static int fault_lock(sqlite3_file *file, int level)
{
	return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int fault_unlock(sqlite3_file *file, int level)
{
	return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int fault_check_lock(sqlite3_file *file, int *ret_is_locked)
{
	return real_of(file)->pMethods->xCheckReservedLock(real_of(file), ret_is_locked);
}

static int fault_control(sqlite3_file *file, int op, void *arg)
{
	return real_of(file)->pMethods->xFileControl(real_of(file), op, arg);
}

static int fault_sector(sqlite3_file *file)
{
	return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int fault_device(sqlite3_file *file)
{
	return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int fault_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **ret)
{
	return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, ret);
}

/* Of the locks beside the log the second is the one of who copies it. */
static int fault_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
	if (offset == 1 && count == 1 && flags == (SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE))
		tell_copying(FAULT_COPYING_BEGINS);
	return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}

static void fault_shm_barrier(sqlite3_file *file)
{
	real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int fault_shm_unmap(sqlite3_file *file, int is_delete)
{
	return real_of(file)->pMethods->xShmUnmap(real_of(file), is_delete);
}

static int fault_fetch(sqlite3_file *file, sqlite3_int64 at, int len, void **ret)
{
	(void)file;
	(void)at;
	(void)len;
	*ret = NULL;
	return SQLITE_OK;
}

/* Pages are never mapped here, so this is only called by who copies and has read a new length of the log. */
static int fault_unfetch(sqlite3_file *file, sqlite3_int64 at, void *page)
{
	(void)file;
	(void)at;
	(void)page;
	tell_copying(FAULT_COPYING_KNOWS);
	return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
	.iVersion = 3,
	.xClose = fault_close,
	.xRead = fault_read,
	.xWrite = fault_write,
	.xTruncate = fault_truncate,
	.xSync = fault_sync,
	.xFileSize = fault_size,
	.xLock = fault_lock,
	.xUnlock = fault_unlock,
	.xCheckReservedLock = fault_check_lock,
	.xFileControl = fault_control,
	.xSectorSize = fault_sector,
	.xDeviceCharacteristics = fault_device,
	.xShmMap = fault_shm_map,
	.xShmLock = fault_shm_lock,
	.xShmBarrier = fault_shm_barrier,
	.xShmUnmap = fault_shm_unmap,
	.xFetch = fault_fetch,
	.xUnfetch = fault_unfetch,
};

static int fault_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *ret_flags)
{
	struct fault_handle *handle = (struct fault_handle *)file;
	int rc;

	(void)vfs;
	handle->real = (sqlite3_file *)(handle + 1);
	handle->file = flags & SQLITE_OPEN_WAL ? FAULT_LOG : FAULT_DATABASE;
	rc = real_vfs->xOpen(real_vfs, name, handle->real, flags, ret_flags);
	handle->base.pMethods = handle->real->pMethods ? &methods : NULL;
	return rc;
}

static void *fault_malloc(int size)
{
	return fails(FAULT_MEMORY, FAULT_LOG) ? NULL : real_memory.xMalloc(size);
}

static void *fault_realloc(void *piece, int size)
{
	return fails(FAULT_MEMORY, FAULT_LOG) ? NULL : real_memory.xRealloc(piece, size);
}

void fault_register(void)
{
	sqlite3_mem_methods memory;

	(void)sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory);
	memory = real_memory;
	memory.xMalloc = fault_malloc;
	memory.xRealloc = fault_realloc;
	(void)sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
	real_vfs = sqlite3_vfs_find(NULL);
	fault_vfs = *real_vfs;
	fault_vfs.zName = "fault";
	fault_vfs.szOsFile = (int)sizeof(struct fault_handle) + real_vfs->szOsFile;
	fault_vfs.xOpen = fault_open;
	(void)sqlite3_vfs_register(&fault_vfs, 1);
}
