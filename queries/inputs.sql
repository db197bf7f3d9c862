-- name: Inputs :many
-- Inputs reads an execution's log, oldest first.
SELECT {{lead_of_i}}i."id", i."seq", i."door", i."input_blob", i."inserted_at"
FROM {{inputs}} AS i
WHERE i."execution_id" OPERATOR(pg_catalog.=) @execution_id::pg_catalog.text
ORDER BY i."seq";

-- name: HasExecution :one
-- HasExecution says whether there is an execution of an id.
SELECT EXISTS (
  SELECT 1 FROM {{executions}} AS e
  WHERE e."execution_id" OPERATOR(pg_catalog.=) @execution_id::pg_catalog.text)::pg_catalog.bool AS found;

-- name: AppendInput :one
-- AppendInput writes an input behind the last one of its execution, whose leading columns it copies. In the log's last
-- place it writes the marker that closes the log, which has no blob, and behind that nothing. FOR UPDATE waits for a
-- writer that took no execution lock; of a number that such a writer took meanwhile the index says so.
WITH sg_execution AS MATERIALIZED (
  SELECT {{lead_of_e}}e."execution_id"
  FROM {{executions}} AS e
  WHERE e."execution_id" OPERATOR(pg_catalog.=) @execution_id::pg_catalog.text
  FOR UPDATE
), sg_next AS MATERIALIZED (
  SELECT COALESCE(pg_catalog.max(l.seq) OPERATOR(pg_catalog.+) 1, 0) AS seq, pg_catalog.bool_or(l.closed) IS TRUE AS closed
  FROM (
    SELECT i."seq", i."input_blob" IS NULL AS closed FROM {{inputs}} AS i
    WHERE i."execution_id" OPERATOR(pg_catalog.=) @execution_id::pg_catalog.text
    ORDER BY i."seq" DESC LIMIT 1) AS l
), sg_appended AS (
  INSERT INTO {{inputs}} AS n ({{id_column}}{{lead_columns}}"execution_id", "seq", "door", "input_blob", "inserted_at", "updated_at")
  SELECT {{id_value}}{{lead_aliases_of_s}}s.execution_id, l.seq, @door::pg_catalog.text,
    CASE WHEN l.seq OPERATOR(pg_catalog.<) @room::pg_catalog.int8 THEN @input_blob::pg_catalog.bytea END, t.now, t.now
  FROM sg_execution AS s CROSS JOIN sg_next AS l CROSS JOIN {{now}} AS t
  WHERE NOT l.closed
  RETURNING n."seq"
)
SELECT l.seq::pg_catalog.int8 AS seq,
  (n.seq IS NOT NULL AND l.seq OPERATOR(pg_catalog.<) @room::pg_catalog.int8)::pg_catalog.bool AS appended,
  (l.closed OR l.seq OPERATOR(pg_catalog.>=) @room::pg_catalog.int8)::pg_catalog.bool AS full
FROM sg_execution AS s CROSS JOIN sg_next AS l LEFT JOIN sg_appended AS n ON true;
