-- name: Execution :one
-- Execution reads one execution.
SELECT {{lead_of_e}}e."execution_id", e."status", e."content_hash", e."identity_blob", e."position_blob", e."failure",
  e."inserted_at", e."updated_at", e."metadata", e."outcome_blob", e."ended_at", e."id"
FROM {{executions}} AS e
WHERE e."execution_id" OPERATOR(pg_catalog.=) @execution_id::pg_catalog.text;

-- name: CreateExecution :one
-- CreateExecution writes an execution unless a chart that it pins is retired. At another level than READ COMMITTED, where
-- the tombstone could be missing from the snapshot, it writes nothing.
INSERT INTO {{executions}} AS e ({{id_column}}{{lead_columns}}"execution_id", "status", "content_hash", "identity_blob", "position_blob", "inserted_at", "updated_at", "metadata")
SELECT {{id_value}}{{lead_values}}@execution_id::pg_catalog.text, 'active', @content_hash::pg_catalog.text, @identity_blob::pg_catalog.bytea,
  sqlc.narg(position_blob)::pg_catalog.bytea, t.now, t.now, sqlc.narg(metadata)::pg_catalog.jsonb
FROM {{now}} AS t
WHERE NOT EXISTS (
    SELECT 1 FROM {{charts}} AS c
    WHERE c."content_hash" OPERATOR(pg_catalog.=) ANY (@pins::pg_catalog.text[]) AND c."retired_at" IS NOT NULL)
  AND {{read_committed}}
  AND NOT {{charts_filtered}}
ON CONFLICT ("execution_id") DO NOTHING
RETURNING {{lead_of_e}}e."id", e."metadata", e."inserted_at";

-- name: CreateExecutionForShare :one
-- CreateExecutionForShare is the form for REPEATABLE READ and SERIALIZABLE. It wants the charts' rows, for a
-- chart that the snapshot does not show may have been retired since, and locks them, which fails with 40001 if
-- one has changed since. FOR SHARE needs the UPDATE privilege on charts, even where it finds no row; so
-- the common form does without.
WITH sg_charts AS MATERIALIZED (
  SELECT c."retired_at" FROM {{charts}} AS c
  WHERE c."content_hash" OPERATOR(pg_catalog.=) ANY (@pins::pg_catalog.text[])
  ORDER BY c."content_hash"
  FOR SHARE
)
INSERT INTO {{executions}} AS e ({{id_column}}{{lead_columns}}"execution_id", "status", "content_hash", "identity_blob", "position_blob", "inserted_at", "updated_at", "metadata")
SELECT {{id_value}}{{lead_values}}@execution_id::pg_catalog.text, 'active', @content_hash::pg_catalog.text, @identity_blob::pg_catalog.bytea,
  sqlc.narg(position_blob)::pg_catalog.bytea, t.now, t.now, sqlc.narg(metadata)::pg_catalog.jsonb
FROM {{now}} AS t
WHERE (SELECT pg_catalog.count(*) FROM sg_charts AS s WHERE s.retired_at IS NULL) OPERATOR(pg_catalog.=) pg_catalog.cardinality(@pins::pg_catalog.text[])
  AND NOT {{charts_filtered}}
ON CONFLICT ("execution_id") DO NOTHING
RETURNING {{lead_of_e}}e."id", e."metadata", e."inserted_at";

-- name: CreateRefusal :one
-- CreateRefusal says why a create wrote nothing, or would write nothing. Of the charts that it pins it reads one: a retired
-- one, if there is any.
SELECT pg_catalog.current_setting('transaction_isolation')::pg_catalog.text AS isolation,
  ({{read_committed}})::pg_catalog.bool AS read_committed,
  ({{filtered_charts}})::pg_catalog.text AS filtered,
  ({{filtered_executions}})::pg_catalog.text AS filtered_executions,
  ((SELECT pg_catalog.count(*) FROM {{charts}} AS k WHERE k."content_hash" OPERATOR(pg_catalog.=) ANY (@pins::pg_catalog.text[]))
    OPERATOR(pg_catalog.=) pg_catalog.cardinality(@pins::pg_catalog.text[]))::pg_catalog.bool AS charts_known,
  COALESCE(c."content_hash", '')::pg_catalog.text AS pinned, c."retired_at", c."retired_by",
  COALESCE(e."id", {{id_zero}})::{{id_value_type}} AS row_id, COALESCE(e."content_hash", '')::pg_catalog.text AS content_hash,
  e."inserted_at"
FROM (SELECT 1 AS one) AS o
LEFT JOIN {{charts}} AS c ON c."content_hash" OPERATOR(pg_catalog.=) ANY (@pins::pg_catalog.text[])
LEFT JOIN {{executions}} AS e ON e."execution_id" OPERATOR(pg_catalog.=) @execution_id::pg_catalog.text
ORDER BY c."retired_at"
LIMIT 1;

-- name: EndExecution :one
-- EndExecution ends an active or parked execution; one that has ended already is returned as it is. FOR UPDATE
-- waits for a writer that took no execution lock, and reads what it left; at the higher levels it fails with
-- 40001. An execution that is neither ended by this nor was before was kept alive by a trigger of the host's.
WITH sg_execution AS MATERIALIZED (
  SELECT {{lead_of_e}}e."id", e."execution_id", e."status", e."content_hash", e."identity_blob", e."position_blob", e."failure",
    e."inserted_at", e."updated_at", e."metadata", e."outcome_blob", e."ended_at"
  FROM {{executions}} AS e
  WHERE e."execution_id" OPERATOR(pg_catalog.=) @execution_id::pg_catalog.text
  FOR UPDATE
), sg_ended AS (
  UPDATE {{executions}} AS u
  SET "status" = @status::pg_catalog.text, "failure" = sqlc.narg(failure)::pg_catalog.text,
    "updated_at" = t.now, "ended_at" = COALESCE(u."ended_at", t.now)
  FROM {{now}} AS t CROSS JOIN sg_execution AS s
  WHERE u."execution_id" OPERATOR(pg_catalog.=) @execution_id::pg_catalog.text
    AND s.status OPERATOR(pg_catalog.=) ANY ({{live_statuses}})
  RETURNING u."status", u."failure", u."updated_at", u."ended_at"
)
SELECT {{lead_aliases_of_s}}s.execution_id, s.content_hash, s.identity_blob, s.position_blob, s.inserted_at, s.metadata, s.outcome_blob, s.id,
  (d.status IS NOT NULL)::pg_catalog.bool AS ended,
  (s.status OPERATOR(pg_catalog.<>) ALL ({{live_statuses}}))::pg_catalog.bool AS discarded,
  COALESCE(d.status, s.status)::pg_catalog.text AS status,
  d.failure, s.failure AS failure_before,
  COALESCE(d.updated_at, s.updated_at)::pg_catalog.timestamp AS updated_at,
  COALESCE(d.ended_at, s.ended_at) AS ended_at
FROM sg_execution AS s LEFT JOIN sg_ended AS d ON true;

-- name: CountExecutions :one
-- CountExecutions counts a chart's executions by status, and the children of live parents that pin it.
SELECT n.active::pg_catalog.int8 AS active, n.needs_migration::pg_catalog.int8 AS needs_migration,
  n.completed::pg_catalog.int8 AS completed, n.failed::pg_catalog.int8 AS failed, n.cancelled::pg_catalog.int8 AS cancelled,
  k.children::pg_catalog.int8 AS children
FROM (
  SELECT
    pg_catalog.count(*) FILTER (WHERE e."status" OPERATOR(pg_catalog.=) 'active') AS active,
    pg_catalog.count(*) FILTER (WHERE e."status" OPERATOR(pg_catalog.=) 'needs_migration') AS needs_migration,
    pg_catalog.count(*) FILTER (WHERE e."status" OPERATOR(pg_catalog.=) 'completed') AS completed,
    pg_catalog.count(*) FILTER (WHERE e."status" OPERATOR(pg_catalog.=) 'failed') AS failed,
    pg_catalog.count(*) FILTER (WHERE e."status" OPERATOR(pg_catalog.=) 'cancelled') AS cancelled
  FROM {{executions}} AS e
  WHERE e."content_hash" OPERATOR(pg_catalog.=) @content_hash::pg_catalog.text) AS n
CROSS JOIN (
  SELECT pg_catalog.count(*) AS children
  FROM {{executions}} AS c
  JOIN {{executions}} AS p ON {{live_parent_of_child}}
  WHERE {{child_pins_chart}}) AS k;
