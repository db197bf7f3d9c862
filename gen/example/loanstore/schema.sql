-- The tables of one store, as the reference has them after version 8 of its migrations, and two indexes
-- more: "statifier_positions_content_hash_index" and "statifier_executions_live_content_hash_index",
-- without which a retirement reads whole tables while it holds the exclusive lock.
--
-- Apply it once, with your migration tool. It is not safe to run in several sessions at a time.

CREATE SCHEMA IF NOT EXISTS "loans";
CREATE TABLE "loans"."statifier_charts" (
  "id" pg_catalog.text PRIMARY KEY, "tenant_id" pg_catalog.uuid NOT NULL, "region" pg_catalog.text,
  "content_hash" pg_catalog.text NOT NULL,
  "identity_blob" pg_catalog.bytea,
  "chart_blob" pg_catalog.bytea, "inserted_at" pg_catalog.timestamp NOT NULL, "updated_at" pg_catalog.timestamp NOT NULL,
  "retired_at" pg_catalog.timestamp,
  "retired_by" pg_catalog.text
);
CREATE UNIQUE INDEX "statifier_charts_content_hash_index" ON "loans"."statifier_charts" ("content_hash");

CREATE TABLE "loans"."statifier_positions" (
  "id" pg_catalog.text PRIMARY KEY, "tenant_id" pg_catalog.uuid NOT NULL, "region" pg_catalog.text,
  "session_id" pg_catalog.text NOT NULL,
  "content_hash" pg_catalog.text NOT NULL,
  "identity_blob" pg_catalog.bytea NOT NULL,
  "position_blob" pg_catalog.bytea NOT NULL, "inserted_at" pg_catalog.timestamp NOT NULL, "updated_at" pg_catalog.timestamp NOT NULL
);
CREATE UNIQUE INDEX "statifier_positions_session_id_index" ON "loans"."statifier_positions" ("session_id");
CREATE INDEX "statifier_positions_content_hash_index" ON "loans"."statifier_positions" ("content_hash");

CREATE TABLE "loans"."statifier_executions" (
  "id" pg_catalog.text PRIMARY KEY, "tenant_id" pg_catalog.uuid NOT NULL, "region" pg_catalog.text,
  "execution_id" pg_catalog.text NOT NULL,
  "status" pg_catalog.text NOT NULL,
  "content_hash" pg_catalog.text NOT NULL,
  "identity_blob" pg_catalog.bytea NOT NULL,
  "position_blob" pg_catalog.bytea,
  "failure" pg_catalog.text,
  "session_id" pg_catalog.text, "inserted_at" pg_catalog.timestamp NOT NULL, "updated_at" pg_catalog.timestamp NOT NULL,
  "metadata" pg_catalog.jsonb,
  "outcome_blob" pg_catalog.bytea,
  "ended_at" pg_catalog.timestamp
);
CREATE UNIQUE INDEX "statifier_executions_execution_id_index" ON "loans"."statifier_executions" ("execution_id");
CREATE INDEX "statifier_executions_metadata_gin_index" ON "loans"."statifier_executions" USING gin ("metadata" pg_catalog.jsonb_path_ops);
CREATE INDEX "statifier_executions_content_hash_index" ON "loans"."statifier_executions" ("content_hash");
CREATE INDEX "statifier_executions_ended_at_index" ON "loans"."statifier_executions" ("ended_at");
CREATE INDEX "statifier_executions_live_content_hash_index" ON "loans"."statifier_executions" ("content_hash")
  WHERE "status" OPERATOR(pg_catalog.=) ANY ('{active,needs_migration}'::pg_catalog.text[]);

CREATE TABLE "loans"."statifier_inputs" (
  "id" pg_catalog.text PRIMARY KEY, "tenant_id" pg_catalog.uuid NOT NULL, "region" pg_catalog.text,
  "execution_id" pg_catalog.text NOT NULL,
  "seq" pg_catalog.int8 NOT NULL,
  "door" pg_catalog.text NOT NULL,
  "input_blob" pg_catalog.bytea, "inserted_at" pg_catalog.timestamp NOT NULL, "updated_at" pg_catalog.timestamp NOT NULL
);
CREATE UNIQUE INDEX "statifier_inputs_execution_id_seq_index" ON "loans"."statifier_inputs" ("execution_id", "seq");
