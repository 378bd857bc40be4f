-- The schema `paige` of a class: one statement that makes it, or brings an older one to this version, and may be run again. Hundreds of
-- daemons that start at once wait for each other here. Whoever runs it may make schemas in the database and roles in the cluster; a
-- learner's own role may not, and does not need to once it is there. A block that was released is never changed; a new one is appended.
DO $migrate$
DECLARE
	log text;
BEGIN
	PERFORM pg_advisory_xact_lock(7023909171);

	IF to_regclass('paige.schema_version') IS NULL THEN
		CREATE SCHEMA IF NOT EXISTS paige;
		CREATE TABLE paige.schema_version (version integer NOT NULL);
		INSERT INTO paige.schema_version VALUES (1);

		-- How far each origin has come; moved in the statement that writes the rows.
		CREATE TABLE paige.positions (
			learner text, origin uuid, source text, number bigint NOT NULL, id text NOT NULL,
			moved_at timestamptz NOT NULL DEFAULT now(),
			PRIMARY KEY (learner, origin, source));

		-- Logs: rows that never change. The second key holds where a backup was put back and its rows come again by another origin.
		CREATE TABLE paige.actions (
			learner text, origin uuid, number bigint, id text NOT NULL, session_id text NOT NULL, type text NOT NULL,
			at timestamptz NOT NULL, phase bigint, hint_level bigint, signal text,
			PRIMARY KEY (learner, origin, number), UNIQUE (learner, id)) PARTITION BY HASH (learner);
		CREATE INDEX ON paige.actions (learner, session_id, at);
		CREATE TABLE paige.api_calls (
			learner text, origin uuid, number bigint, id text NOT NULL, session_id text, kind text NOT NULL,
			model text NOT NULL, status text NOT NULL, at timestamptz NOT NULL, latency_ms bigint NOT NULL,
			input_tokens bigint NOT NULL, output_tokens bigint NOT NULL, cost double precision NOT NULL,
			PRIMARY KEY (learner, origin, number), UNIQUE (learner, id)) PARTITION BY HASH (learner);
		CREATE TABLE paige.guard_events (
			learner text, origin uuid, number bigint, id text NOT NULL, kind text NOT NULL, machine text NOT NULL,
			seq bigint NOT NULL, at timestamptz NOT NULL, actor text NOT NULL, type text NOT NULL,
			PRIMARY KEY (learner, origin, number), UNIQUE (learner, id)) PARTITION BY HASH (learner);
		FOREACH log IN ARRAY ARRAY['actions', 'api_calls', 'guard_events'] LOOP
			FOR part IN 0..7 LOOP
				EXECUTE format('CREATE TABLE paige.%I PARTITION OF paige.%I FOR VALUES WITH (MODULUS 8, REMAINDER %s)',
					log || '_' || part, log, part);
			END LOOP;
		END LOOP;

		-- Rows as they stand.
		CREATE TABLE paige.sessions (
			learner text, origin uuid NOT NULL, number bigint NOT NULL, id text, issue_number bigint, issue_title text,
			status text NOT NULL, started_at timestamptz NOT NULL, ended_at timestamptz,
			PRIMARY KEY (learner, id));
		CREATE TABLE paige.phases (
			learner text, origin uuid NOT NULL, number bigint NOT NULL, id text, session_id text NOT NULL,
			plan_id text NOT NULL, planned_at timestamptz NOT NULL, place bigint NOT NULL, title text NOT NULL,
			status text NOT NULL, started_at timestamptz, completed_at timestamptz,
			PRIMARY KEY (learner, id));
		CREATE INDEX ON paige.phases (learner, session_id);
		-- Each assessment of a skill stays.
		CREATE TABLE paige.assessments (
			learner text, origin uuid NOT NULL, number bigint NOT NULL, id text, skill text NOT NULL,
			stage text NOT NULL, confidence double precision NOT NULL, assessed_at timestamptz,
			PRIMARY KEY (learner, id, assessed_at));

		-- For a teacher. They run with the rights of their owner, so they show every learner.
		CREATE VIEW paige.stuck AS
			SELECT s.learner, s.issue_number, s.issue_title, p.place AS phase, p.title, p.started_at,
				now() - p.started_at AS lasts, a.last_action_at, a.nudges
			FROM paige.sessions AS s
			JOIN paige.phases AS p ON p.learner = s.learner AND p.session_id = s.id AND p.status = 'active'
			CROSS JOIN LATERAL (
				SELECT max(at) AS last_action_at,
					count(*) FILTER (WHERE type = 'nudge_sent' AND at >= p.started_at) AS nudges
				FROM paige.actions WHERE learner = s.learner AND session_id = s.id) AS a
			WHERE s.status = 'active' AND p.planned_at = (
				SELECT max(planned_at) FROM paige.phases WHERE learner = s.learner AND session_id = s.id)
			ORDER BY lasts DESC;
		CREATE VIEW paige.progress AS
			SELECT learner, skill, stage, confidence, assessed_at,
				lag(stage) OVER (PARTITION BY learner, skill ORDER BY assessed_at) AS stage_before
			FROM paige.assessments ORDER BY learner, skill, assessed_at;
		CREATE VIEW paige.costs AS
			SELECT learner, (at AT TIME ZONE 'UTC')::date AS day, count(*) AS calls,
				count(*) FILTER (WHERE status = 'failed') AS failed, sum(input_tokens) AS input_tokens,
				sum(output_tokens) AS output_tokens, sum(cost) AS cost
			FROM paige.api_calls GROUP BY 1, 2 ORDER BY 1, 2;

		-- A learner's role is a member of paige_learner and bears the learner's name: it sees and writes rows of that name alone.
		IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'paige_learner') THEN
			CREATE ROLE paige_learner NOLOGIN;
		END IF;
		IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'paige_teacher') THEN
			CREATE ROLE paige_teacher NOLOGIN;
		END IF;
		GRANT USAGE ON SCHEMA paige TO paige_learner, paige_teacher;
		GRANT SELECT ON paige.schema_version TO paige_learner, paige_teacher;
		GRANT SELECT, INSERT ON paige.actions, paige.api_calls, paige.guard_events, paige.assessments TO paige_learner;
		GRANT SELECT, INSERT, UPDATE ON paige.positions, paige.sessions, paige.phases TO paige_learner;
		GRANT SELECT ON paige.stuck, paige.progress, paige.costs TO paige_teacher;
		FOREACH log IN ARRAY ARRAY['positions', 'actions', 'api_calls', 'guard_events', 'sessions', 'phases', 'assessments'] LOOP
			EXECUTE format('ALTER TABLE paige.%I ENABLE ROW LEVEL SECURITY', log);
			EXECUTE format('CREATE POLICY own_rows ON paige.%I USING (learner = current_user) WITH CHECK (learner = current_user)', log);
		END LOOP;
	END IF;
END
$migrate$
