-- The tables of one store, as the reference has them after version 8 of its migrations, and two indexes
-- more: {{positions_content_hash_index}} and {{executions_live_content_hash_index}},
-- without which a retirement reads whole tables while it holds the exclusive lock.
--
-- Apply it once, with your migration tool. It is not safe to run in several sessions at a time.

{{create_schema}}
CREATE TABLE {{charts}} (
  "id" {{id_type}} PRIMARY KEY{{lead_definitions}}{{timestamps_leading}},
  "content_hash" {{content_hash_type}} NOT NULL,
  "identity_blob" pg_catalog.bytea,
  "chart_blob" pg_catalog.bytea{{timestamps_trailing}},
  "retired_at" pg_catalog.timestamp,
  "retired_by" pg_catalog.text
);
CREATE UNIQUE INDEX {{charts_content_hash_index}} ON {{charts}} ("content_hash");

CREATE TABLE {{positions}} (
  "id" {{id_type}} PRIMARY KEY{{lead_definitions}}{{timestamps_leading}},
  "session_id" {{session_id_type}} NOT NULL,
  "content_hash" {{content_hash_type}} NOT NULL,
  "identity_blob" pg_catalog.bytea NOT NULL,
  "position_blob" pg_catalog.bytea NOT NULL{{timestamps_trailing}}
);
CREATE UNIQUE INDEX {{positions_session_id_index}} ON {{positions}} ("session_id");
CREATE INDEX {{positions_content_hash_index}} ON {{positions}} ("content_hash");

CREATE TABLE {{executions}} (
  "id" {{id_type}} PRIMARY KEY{{lead_definitions}}{{timestamps_leading}},
  "execution_id" {{execution_id_type}} NOT NULL,
  "status" {{status_type}} NOT NULL,
  "content_hash" {{content_hash_type}} NOT NULL,
  "identity_blob" pg_catalog.bytea NOT NULL,
  "position_blob" pg_catalog.bytea,
  "failure" {{failure_type}},
  "session_id" {{session_id_type}}{{timestamps_trailing}},
  "metadata" pg_catalog.jsonb,
  "outcome_blob" pg_catalog.bytea,
  "ended_at" pg_catalog.timestamp
);
CREATE UNIQUE INDEX {{executions_execution_id_index}} ON {{executions}} ("execution_id");
CREATE INDEX {{executions_metadata_gin_index}} ON {{executions}} USING gin ("metadata" pg_catalog.jsonb_path_ops);
CREATE INDEX {{executions_content_hash_index}} ON {{executions}} ("content_hash");
CREATE INDEX {{executions_ended_at_index}} ON {{executions}} ("ended_at");
CREATE INDEX {{executions_live_content_hash_index}} ON {{executions}} ("content_hash")
  WHERE "status" OPERATOR(pg_catalog.=) ANY ({{live_statuses}});

CREATE TABLE {{inputs}} (
  "id" {{id_type}} PRIMARY KEY{{lead_definitions}}{{timestamps_leading}},
  "execution_id" {{execution_id_type}} NOT NULL,
  "seq" pg_catalog.int8 NOT NULL,
  "door" {{door_type}} NOT NULL,
  "input_blob" pg_catalog.bytea{{timestamps_trailing}}
);
CREATE UNIQUE INDEX {{inputs_execution_id_seq_index}} ON {{inputs}} ("execution_id", "seq");
