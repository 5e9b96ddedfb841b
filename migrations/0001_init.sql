-- 0001_init - the entities of docs/lifecycle.md.
--
-- Times are milliseconds since 1970-01-01T00:00:00Z. An absent value is NULL. Columns ending in _json hold canonical JSON
-- that their maker wrote; nothing here looks inside. What is append-only refuses to be changed by trigger.

CREATE TABLE meta (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	store_id BLOB NOT NULL CHECK (length(store_id) = 16)
) STRICT;

CREATE TABLE projects (
	id TEXT NOT NULL PRIMARY KEY,
	name TEXT NOT NULL,
	root_path TEXT,
	root_device INTEGER NOT NULL DEFAULT 0,
	root_inode INTEGER NOT NULL DEFAULT 0,
	root_ref TEXT,
	root_revision INTEGER NOT NULL DEFAULT 0,
	root_counter INTEGER NOT NULL DEFAULT 0,     -- the last root revision given out; survives a root taken away
	decision_revision INTEGER NOT NULL DEFAULT 0,
	server_counter INTEGER NOT NULL DEFAULT 0,   -- the last tool server revision given out
	created_at INTEGER NOT NULL,
	archived_at INTEGER,
	revision INTEGER NOT NULL DEFAULT 1,         -- of name, root and use: what people set, not what is decided in it
	changed_token TEXT,
	changed_principal TEXT,
	changed_at INTEGER NOT NULL,
	change_reason TEXT,
	CHECK ((root_path IS NULL) = (root_ref IS NULL)),
	CHECK ((root_path IS NULL) = (root_revision = 0)),
	CHECK (root_revision IN (0, root_counter))
) STRICT;

CREATE TABLE tool_servers (
	project_id TEXT NOT NULL REFERENCES projects (id),
	mcp_id TEXT NOT NULL,
	enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
	kind TEXT NOT NULL CHECK (kind IN ('reported', 'builtin', 'spec')),
	spec_json TEXT,
	revision INTEGER NOT NULL,
	changed_token TEXT,
	changed_principal TEXT,
	changed_at INTEGER NOT NULL,
	PRIMARY KEY (project_id, mcp_id),
	CHECK ((kind = 'spec') = (spec_json IS NOT NULL))
) STRICT;

CREATE TABLE health_rows (
	project_id TEXT NOT NULL REFERENCES projects (id),
	mcp_id TEXT NOT NULL,
	install_state TEXT NOT NULL,
	status TEXT NOT NULL,
	enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
	error TEXT,
	checked_at INTEGER NOT NULL,
	source TEXT NOT NULL CHECK (source IN ('reported', 'probed', 'builtin')),
	valid_seconds INTEGER NOT NULL DEFAULT 0,
	server_revision INTEGER NOT NULL,
	root_revision INTEGER NOT NULL,
	PRIMARY KEY (project_id, mcp_id)
) STRICT;

-- When a tool server that packages wait for is looked at again: work in hand, no record.
CREATE TABLE health_retries (
	project_id TEXT NOT NULL REFERENCES projects (id),
	mcp_id TEXT NOT NULL,
	attempt INTEGER NOT NULL,
	next_at INTEGER NOT NULL,
	PRIMARY KEY (project_id, mcp_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX health_retries_by_time ON health_retries (next_at);

-- Up to which event webhooks were delivered: one row, once there is a receiver. Work in hand, no record.
CREATE TABLE webhook_position (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	sequence INTEGER NOT NULL
) STRICT;

CREATE TABLE catalogs (
	digest TEXT NOT NULL PRIMARY KEY,
	bytes TEXT NOT NULL
) STRICT;

CREATE TABLE catalog_epochs (
	epoch INTEGER PRIMARY KEY,
	digest TEXT NOT NULL REFERENCES catalogs (digest),
	actor_token TEXT,
	actor_principal TEXT,
	at INTEGER NOT NULL
) STRICT;
CREATE INDEX catalog_epochs_by_digest ON catalog_epochs (digest, epoch);

CREATE TABLE tasks (
	sequence INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	project_id TEXT NOT NULL REFERENCES projects (id),
	title TEXT NOT NULL,
	plan_revision INTEGER NOT NULL,
	plan_digest TEXT NOT NULL,
	status TEXT NOT NULL CHECK (status IN
		('proposed', 'approved', 'rejected', 'changes_requested', 'completed', 'failed', 'cancelled')),
	submitted_token TEXT,
	submitted_principal TEXT,
	submitted_at INTEGER NOT NULL,
	contributors_json TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	status_token TEXT,
	status_principal TEXT,
	status_at INTEGER NOT NULL,
	status_reason TEXT,
	approved_revision INTEGER NOT NULL DEFAULT 0,
	approved_token TEXT,
	approved_principal TEXT,
	approved_at INTEGER,
	approval_reason TEXT,
	approval_json TEXT
) STRICT;
CREATE INDEX tasks_by_project ON tasks (project_id, sequence);
CREATE INDEX tasks_by_status ON tasks (status, sequence);
CREATE INDEX tasks_by_submitter ON tasks (submitted_principal, sequence);
CREATE INDEX tasks_submitted ON tasks (submitted_at, sequence) WHERE status = 'proposed';
CREATE INDEX tasks_sent_back ON tasks (status_at, sequence) WHERE status = 'changes_requested';
CREATE INDEX tasks_to_claim ON tasks (approved_at, sequence) WHERE status = 'approved';

CREATE TABLE documents (
	digest TEXT NOT NULL PRIMARY KEY,
	bytes TEXT NOT NULL
) STRICT;

CREATE TABLE packages (
	sequence INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	task_id TEXT NOT NULL REFERENCES tasks (id),
	project_id TEXT NOT NULL REFERENCES projects (id),
	plan_revision INTEGER NOT NULL,
	position INTEGER NOT NULL,
	label TEXT NOT NULL,
	agent TEXT NOT NULL,
	document_digest TEXT NOT NULL REFERENCES documents (digest),
	submitted_token TEXT,
	submitted_principal TEXT,
	created_at INTEGER NOT NULL,
	attempts INTEGER NOT NULL DEFAULT 0,
	attempt_limit INTEGER NOT NULL,
	"end" TEXT CHECK ("end" IN ('completed', 'failed', 'cancelled', 'superseded')),
	ended_at INTEGER,
	hold_json TEXT,
	hold_fingerprint TEXT,
	hold_since INTEGER,
	judged_catalog TEXT,
	preview_decision TEXT REFERENCES decisions (id),
	approval_decision TEXT REFERENCES decisions (id),
	handoff_decision TEXT REFERENCES decisions (id),
	CHECK (("end" IS NULL) = (ended_at IS NULL)),
	CHECK ((hold_json IS NULL) = (hold_since IS NULL))
) STRICT;
CREATE UNIQUE INDEX packages_by_label ON packages (task_id, plan_revision, label)
	WHERE "end" IS NULL OR "end" <> 'superseded';
CREATE INDEX packages_by_task ON packages (task_id, position);
CREATE INDEX packages_to_claim ON packages (task_id, position) WHERE "end" IS NULL;
CREATE INDEX packages_unfinished ON packages (project_id, sequence) WHERE "end" IS NULL;
CREATE INDEX packages_held ON packages (hold_since, sequence) WHERE "end" IS NULL AND hold_json IS NOT NULL;
CREATE INDEX packages_held_of_project ON packages (project_id, hold_since, sequence)
	WHERE "end" IS NULL AND hold_json IS NOT NULL;
CREATE INDEX packages_failed ON packages (ended_at, sequence) WHERE "end" = 'failed';

CREATE TABLE dependencies (
	package_id TEXT NOT NULL REFERENCES packages (id),
	depends_on TEXT NOT NULL REFERENCES packages (id),
	PRIMARY KEY (package_id, depends_on),
	CHECK (package_id <> depends_on)
) STRICT, WITHOUT ROWID;
CREATE INDEX dependencies_backward ON dependencies (depends_on, package_id);

CREATE TABLE prompt_overlays (
	package_id TEXT NOT NULL REFERENCES packages (id),
	requirement_key TEXT NOT NULL,
	text TEXT NOT NULL,
	digest TEXT NOT NULL,
	PRIMARY KEY (package_id, requirement_key)
) STRICT;

-- The ledger. `sequence` orders all of it, `revision` one project's.
CREATE TABLE grants (
	sequence INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	project_id TEXT NOT NULL REFERENCES projects (id),
	package_id TEXT REFERENCES packages (id),
	decision TEXT NOT NULL CHECK (decision IN ('denied', 'revoked', 'approved')),
	mode TEXT NOT NULL CHECK (mode IN ('allow_once', 'always_allow')),
	capabilities_json TEXT NOT NULL,
	dropped_json TEXT NOT NULL,
	revision INTEGER NOT NULL CHECK (revision > 0),
	root_revision INTEGER NOT NULL,
	expires_at INTEGER,
	reason TEXT,
	actor_token TEXT,
	actor_principal TEXT,
	at INTEGER NOT NULL,
	replaces TEXT REFERENCES grants (id),
	UNIQUE (project_id, revision),
	CHECK ((mode = 'allow_once') = (package_id IS NOT NULL)),
	CHECK (expires_at IS NULL OR decision = 'approved')
) STRICT;
CREATE INDEX grants_of_package ON grants (package_id, revision) WHERE package_id IS NOT NULL;
CREATE INDEX grants_by_package ON grants (package_id, sequence) WHERE package_id IS NOT NULL;
CREATE INDEX grants_by_project ON grants (project_id, sequence);
CREATE INDEX grants_of_project ON grants (project_id, revision) WHERE package_id IS NULL;

-- What time did. What it will do waits in due_pending, which is work in hand and no record.
CREATE TABLE due_records (
	sequence INTEGER PRIMARY KEY,
	kind TEXT NOT NULL CHECK (kind IN ('grant', 'lease', 'health')),
	project_id TEXT NOT NULL REFERENCES projects (id),
	subject TEXT NOT NULL,
	due_at INTEGER NOT NULL,
	at INTEGER NOT NULL,
	UNIQUE (project_id, subject, kind, due_at)
) STRICT;

CREATE TABLE due_pending (
	project_id TEXT NOT NULL REFERENCES projects (id),
	subject TEXT NOT NULL,
	kind TEXT NOT NULL CHECK (kind IN ('grant', 'health')),
	due_at INTEGER NOT NULL,
	PRIMARY KEY (project_id, subject, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX due_pending_by_time ON due_pending (due_at);
CREATE INDEX due_pending_of_project ON due_pending (project_id, due_at);

CREATE TABLE decisions (
	sequence INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	inputs_json TEXT NOT NULL,
	result_json TEXT NOT NULL,
	result_digest TEXT NOT NULL,
	catalog_digest TEXT NOT NULL REFERENCES catalogs (digest),
	package_digest TEXT NOT NULL,
	engine_revision INTEGER NOT NULL,
	created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE runs (
	sequence INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	package_id TEXT NOT NULL REFERENCES packages (id),
	task_id TEXT NOT NULL REFERENCES tasks (id),
	project_id TEXT NOT NULL REFERENCES projects (id),
	attempt INTEGER NOT NULL,
	claimed_token TEXT,
	claimed_principal TEXT,
	worker TEXT,
	token_hash TEXT NOT NULL UNIQUE,
	lease_expires_at INTEGER NOT NULL,
	renewals INTEGER NOT NULL DEFAULT 0,         -- of the lease; tells one term from the next
	decision_id TEXT NOT NULL REFERENCES decisions (id),
	root_revision INTEGER NOT NULL,
	claimed_at INTEGER NOT NULL,
	outcome TEXT CHECK (outcome IN ('succeeded', 'failed', 'released', 'expired', 'cancelled')),
	summary TEXT,
	ended_token TEXT,
	ended_principal TEXT,
	ended_at INTEGER,
	packet_json TEXT,
	CHECK ((outcome IS NULL) = (ended_at IS NULL))
) STRICT;
CREATE UNIQUE INDEX runs_live ON runs (package_id) WHERE outcome IS NULL;
CREATE INDEX runs_live_of_project ON runs (project_id, sequence) WHERE outcome IS NULL;
CREATE INDEX runs_by_lease ON runs (lease_expires_at, sequence) WHERE outcome IS NULL;
CREATE INDEX runs_by_project ON runs (project_id, sequence);
CREATE INDEX runs_by_task ON runs (task_id, sequence);
CREATE INDEX runs_by_package ON runs (package_id, sequence);
CREATE INDEX runs_by_token ON runs (claimed_token, sequence);
CREATE INDEX runs_by_principal ON runs (claimed_principal, sequence);

-- The run that used a one-time grant up: one, because the grant is the key.
CREATE TABLE grant_uses (
	grant_id TEXT NOT NULL PRIMARY KEY REFERENCES grants (id),
	run_id TEXT NOT NULL REFERENCES runs (id),
	UNIQUE (grant_id, run_id)
) STRICT;

CREATE TABLE run_grants (
	run_id TEXT NOT NULL REFERENCES runs (id),
	requirement_key TEXT NOT NULL,
	grant_id TEXT NOT NULL REFERENCES grants (id),
	mode TEXT NOT NULL CHECK (mode IN ('allow_once', 'always_allow')),
	once_grant_id TEXT,
	PRIMARY KEY (run_id, requirement_key),
	FOREIGN KEY (once_grant_id, run_id) REFERENCES grant_uses (grant_id, run_id),
	CHECK (once_grant_id IS CASE mode WHEN 'allow_once' THEN grant_id END)
) STRICT;
CREATE INDEX run_grants_by_grant ON run_grants (grant_id);

CREATE TABLE events (
	sequence INTEGER PRIMARY KEY,
	type TEXT NOT NULL,
	subject_kind TEXT NOT NULL,
	subject_id TEXT NOT NULL,
	project_id TEXT REFERENCES projects (id),
	task_id TEXT REFERENCES tasks (id),
	package_id TEXT REFERENCES packages (id),
	actor_token TEXT,
	actor_principal TEXT,
	at INTEGER NOT NULL,
	payload_json TEXT NOT NULL,
	surface TEXT CHECK (surface IN ('preview', 'approval', 'handoff')),
	decision_id TEXT REFERENCES decisions (id),
	record_digest BLOB CHECK (length(record_digest) = 32),  -- of the rows that the event names; NULL: it names none
	hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
CREATE INDEX events_of_record ON events (subject_id, type) WHERE record_digest IS NOT NULL;
CREATE INDEX events_of_surface ON events (package_id, surface, sequence) WHERE surface IS NOT NULL;
CREATE INDEX events_of_surface_by_time ON events (at) WHERE surface IS NOT NULL;
CREATE INDEX events_by_project ON events (project_id, sequence);
CREATE INDEX events_of_server ON events (project_id, subject_id, sequence) WHERE type = 'health.changed';
CREATE INDEX events_by_task ON events (task_id, sequence) WHERE task_id IS NOT NULL;
CREATE INDEX events_of_plan ON events (task_id, sequence) WHERE type = 'task.status';
CREATE INDEX events_by_package ON events (package_id, sequence) WHERE package_id IS NOT NULL;
CREATE INDEX events_of_decision ON events (decision_id, project_id, at) WHERE decision_id IS NOT NULL;

-- Each restore of a backup opens an epoch: the log goes on behind the backup's head, and what followed it before is given up.
CREATE TABLE epochs (
	epoch INTEGER PRIMARY KEY CHECK (epoch > 1),
	from_sequence INTEGER NOT NULL,      -- the backup's head
	from_hash BLOB NOT NULL CHECK (length(from_hash) = 32),
	replaced_sequence INTEGER NOT NULL,  -- the head of the store that was given up; 0: none is known
	replaced_hash BLOB NOT NULL CHECK (length(replaced_hash) = 32),
	at INTEGER NOT NULL
) STRICT;

-- What vouches for the log up to a row. Signed with a key that lies elsewhere; NULL: there was no key.
CREATE TABLE audit_checkpoints (
	number INTEGER PRIMARY KEY CHECK (number > 0),
	epoch INTEGER NOT NULL,
	sequence INTEGER NOT NULL UNIQUE,
	hash BLOB NOT NULL CHECK (length(hash) = 32),
	at INTEGER NOT NULL,
	key_id TEXT,
	signature BLOB CHECK (length(signature) = 64),
	CHECK ((key_id IS NULL) = (signature IS NULL))
) STRICT;

-- Retention: rows of the log up to a checkpoint were exported and deleted. What they named stays bound by what is left of them.
CREATE TABLE audit_trims (
	through INTEGER PRIMARY KEY REFERENCES audit_checkpoints (sequence),
	after INTEGER NOT NULL UNIQUE,       -- the checkpoint before; 0: the first
	digest BLOB NOT NULL CHECK (length(digest) = 32),  -- of the audit_bound rows between them
	at INTEGER NOT NULL
) STRICT;

CREATE TABLE audit_bound (
	sequence INTEGER PRIMARY KEY,
	type TEXT NOT NULL,
	subject_kind TEXT NOT NULL,
	subject_id TEXT NOT NULL,
	project_id TEXT,
	package_id TEXT,
	at INTEGER NOT NULL,
	decision_id TEXT,
	record_digest BLOB NOT NULL CHECK (length(record_digest) = 32)
) STRICT;
CREATE INDEX audit_bound_by_subject ON audit_bound (subject_id, type);
CREATE INDEX audit_bound_by_decision ON audit_bound (decision_id) WHERE decision_id IS NOT NULL;

CREATE TABLE tokens (
	sequence INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	principal TEXT NOT NULL,
	made_by_token TEXT,
	made_by_principal TEXT,
	roles INTEGER NOT NULL,
	projects_json TEXT,
	hash TEXT NOT NULL UNIQUE,
	created_at INTEGER NOT NULL,
	expires_at INTEGER,
	revoked_at INTEGER,
	last_used_at INTEGER
) STRICT;

CREATE TABLE answers (
	token_id TEXT NOT NULL,
	route TEXT NOT NULL,
	"key" TEXT NOT NULL,
	body_digest TEXT NOT NULL,
	status INTEGER NOT NULL,
	answer_json TEXT NOT NULL,
	at INTEGER NOT NULL,
	PRIMARY KEY (token_id, route, "key")
) STRICT;
CREATE INDEX answers_by_time ON answers (at);

CREATE TRIGGER grants_keep BEFORE UPDATE ON grants BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER grants_stay BEFORE DELETE ON grants BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER due_records_keep BEFORE UPDATE ON due_records BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER due_records_stay BEFORE DELETE ON due_records BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER decisions_keep BEFORE UPDATE ON decisions BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER decisions_stay BEFORE DELETE ON decisions BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER grant_uses_keep BEFORE UPDATE ON grant_uses BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER grant_uses_stay BEFORE DELETE ON grant_uses BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER run_grants_keep BEFORE UPDATE ON run_grants BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER run_grants_stay BEFORE DELETE ON run_grants BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER events_keep BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'append-only'); END;
-- The one way out of the log: rows that a trim covers, which names a checkpoint and is never taken back.
CREATE TRIGGER events_stay BEFORE DELETE ON events
	WHEN OLD.sequence > coalesce((SELECT max(through) FROM audit_trims), 0)
	BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER epochs_keep BEFORE UPDATE ON epochs BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER epochs_stay BEFORE DELETE ON epochs BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER audit_checkpoints_keep BEFORE UPDATE ON audit_checkpoints BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER audit_checkpoints_stay BEFORE DELETE ON audit_checkpoints BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER audit_trims_keep BEFORE UPDATE ON audit_trims BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER audit_trims_stay BEFORE DELETE ON audit_trims BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER audit_bound_keep BEFORE UPDATE ON audit_bound BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER audit_bound_stay BEFORE DELETE ON audit_bound BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER catalogs_keep BEFORE UPDATE ON catalogs BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER catalogs_stay BEFORE DELETE ON catalogs BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER catalog_epochs_keep BEFORE UPDATE ON catalog_epochs BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER catalog_epochs_stay BEFORE DELETE ON catalog_epochs BEGIN SELECT RAISE(ABORT, 'append-only'); END;
