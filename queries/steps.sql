-- name: HeldExecution :one
-- HeldExecution reads an execution and holds its row to the transaction's end.
SELECT {{lead_of_e}}e."execution_id", e."status", e."content_hash", e."identity_blob", e."position_blob", e."failure",
  e."inserted_at", e."updated_at", e."metadata", e."outcome_blob", e."ended_at", e."id"
FROM {{executions}} AS e
WHERE e."execution_id" OPERATOR(pg_catalog.=) @execution_id::pg_catalog.text
FOR UPDATE;

-- name: HoldExecution :one
-- HoldExecution holds an execution's row to the transaction's end, if there is one.
SELECT pg_catalog.count(*)::pg_catalog.int8 AS held
FROM (
  SELECT e."execution_id" FROM {{executions}} AS e
  WHERE e."execution_id" OPERATOR(pg_catalog.=) @execution_id::pg_catalog.text
  FOR UPDATE) AS h;

-- name: StepExecution :one
-- StepExecution writes what a step made of an execution. What is written once stays: metadata, the moment at which it
-- ended, and an outcome where the step has none.
UPDATE {{executions}} AS u
SET "status" = @status::pg_catalog.text, "failure" = sqlc.narg(failure)::pg_catalog.text,
  "position_blob" = CASE WHEN @keep_position::pg_catalog.bool THEN u."position_blob" ELSE sqlc.narg(position_blob)::pg_catalog.bytea END,
  "outcome_blob" = COALESCE(sqlc.narg(outcome_blob)::pg_catalog.bytea, u."outcome_blob"),
  "updated_at" = t.now,
  "ended_at" = CASE WHEN @status::pg_catalog.text OPERATOR(pg_catalog.=) ANY ({{live_statuses}}) THEN u."ended_at" ELSE COALESCE(u."ended_at", t.now) END
FROM {{now}} AS t
WHERE u."execution_id" OPERATOR(pg_catalog.=) @execution_id::pg_catalog.text
  AND u."status" OPERATOR(pg_catalog.=) ANY ({{live_statuses}})
RETURNING u."outcome_blob", u."updated_at", u."ended_at";

-- name: UnparkExecution :one
-- UnparkExecution makes a parked execution active again; any other is returned as it is.
WITH sg_execution AS MATERIALIZED (
  SELECT {{lead_of_e}}e."id", e."execution_id", e."status", e."content_hash", e."identity_blob", e."position_blob", e."failure",
    e."inserted_at", e."updated_at", e."metadata", e."outcome_blob", e."ended_at"
  FROM {{executions}} AS e
  WHERE e."execution_id" OPERATOR(pg_catalog.=) @execution_id::pg_catalog.text
  FOR UPDATE
), sg_unparked AS (
  UPDATE {{executions}} AS u
  SET "status" = 'active', "failure" = NULL, "updated_at" = t.now
  FROM {{now}} AS t CROSS JOIN sg_execution AS s
  WHERE u."execution_id" OPERATOR(pg_catalog.=) @execution_id::pg_catalog.text
    AND s.status OPERATOR(pg_catalog.=) 'needs_migration'
  RETURNING u."status", u."updated_at"
)
SELECT {{lead_aliases_of_s}}s.execution_id, s.content_hash, s.identity_blob, s.position_blob, s.inserted_at, s.metadata, s.outcome_blob, s.ended_at, s.id,
  (s.status OPERATOR(pg_catalog.<>) ALL ({{live_statuses}}))::pg_catalog.bool AS discarded,
  COALESCE(d.status, s.status)::pg_catalog.text AS status,
  (d.status IS NOT NULL)::pg_catalog.bool AS unparked, s.failure,
  COALESCE(d.updated_at, s.updated_at)::pg_catalog.timestamp AS updated_at
FROM sg_execution AS s LEFT JOIN sg_unparked AS d ON true;

-- name: Children :many
-- Children lists the children of an execution, whatever their status: one that has ended may have children that have
-- not.
SELECT c."execution_id"
FROM {{executions}} AS c
WHERE c."metadata" OPERATOR(pg_catalog.@>) pg_catalog.jsonb_build_object('statifier_persistence',
  pg_catalog.jsonb_build_object('parent_execution_id', @parent_execution_id::pg_catalog.text))
ORDER BY c."execution_id" COLLATE pg_catalog."C";
