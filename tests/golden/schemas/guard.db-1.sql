-- guard.db as the first version made it, with rows in every table. Read by test_store_database.c; never changed.
PRAGMA application_id = 0x50414953;
PRAGMA user_version = 1;
CREATE TABLE streams (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, cursor INTEGER NOT NULL, head BLOB NOT NULL, last_key TEXT NOT NULL, deadline INTEGER, asking INTEGER NOT NULL, boot_id TEXT NOT NULL, clock_offset INTEGER NOT NULL, created_at INTEGER NOT NULL, changed_at INTEGER NOT NULL, UNIQUE (kind, id));
CREATE TABLE rows (stream INTEGER NOT NULL REFERENCES streams (number), seq INTEGER NOT NULL, at INTEGER NOT NULL, actor TEXT NOT NULL, type TEXT NOT NULL, payload TEXT NOT NULL, chain BLOB NOT NULL, PRIMARY KEY (stream, seq)) WITHOUT ROWID;
CREATE TABLE client_events (stream INTEGER NOT NULL REFERENCES streams (number), client_event_id TEXT NOT NULL, first INTEGER NOT NULL, PRIMARY KEY (stream, client_event_id)) WITHOUT ROWID;
CREATE TABLE snapshots (stream INTEGER PRIMARY KEY REFERENCES streams (number), cursor INTEGER NOT NULL, state TEXT NOT NULL);
CREATE INDEX streams_waiting ON streams (number) WHERE deadline IS NOT NULL OR asking <> 0;
INSERT INTO streams VALUES (1, 'idle', 'a', 2, x'02', 'k', NULL, 0, 'b', 0, 1000, 3000);
INSERT INTO streams VALUES (2, 'breakloop', 'b', 1, x'03', 'k', 5000, 0, 'b', 0, 2000, 2000);
INSERT INTO rows VALUES (1, 1, 1000, 'system', 'created', '{}', x'01');
INSERT INTO rows VALUES (1, 2, 3000, 'user', 'tick', '{}', x'02');
INSERT INTO rows VALUES (2, 1, 2000, 'system', 'created', '{}', x'03');
INSERT INTO client_events VALUES (1, 'c', 2);
INSERT INTO snapshots VALUES (1, 2, '{}');
