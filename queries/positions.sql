-- name: Position :one
-- Position reads one position.
SELECT {{lead_of_p}}p."session_id", p."content_hash", p."identity_blob", p."position_blob", p."inserted_at", p."updated_at", p."id"
FROM {{positions}} AS p
WHERE p."session_id" OPERATOR(pg_catalog.=) @session_id::pg_catalog.text;

-- name: SavePosition :one
-- SavePosition writes a session's position, over the one that is there, unless its chart is retired. What the host put
-- into its own columns first stays. At another level than READ COMMITTED, where the tombstone could be missing from the
-- snapshot, it writes nothing.
WITH sg_chart AS MATERIALIZED (
  SELECT c."content_hash", c."retired_at", c."retired_by" FROM {{charts}} AS c
  WHERE c."content_hash" OPERATOR(pg_catalog.=) @content_hash::pg_catalog.text
), sg_saved AS (
  INSERT INTO {{positions}} AS n ({{id_column}}{{lead_columns}}"session_id", "content_hash", "identity_blob", "position_blob", "inserted_at", "updated_at")
  SELECT {{id_value}}{{lead_values}}@session_id::pg_catalog.text, @content_hash::pg_catalog.text, @identity_blob::pg_catalog.bytea,
    @position_blob::pg_catalog.bytea, t.now, t.now
  FROM {{now}} AS t
  WHERE NOT EXISTS (SELECT 1 FROM sg_chart AS s WHERE s.retired_at IS NOT NULL)
    AND {{read_committed}}
    AND NOT {{charts_filtered}}
  ON CONFLICT ("session_id") DO UPDATE SET "content_hash" = EXCLUDED."content_hash", "identity_blob" = EXCLUDED."identity_blob",
    "position_blob" = EXCLUDED."position_blob", "updated_at" = EXCLUDED."updated_at"
  RETURNING n."session_id"
)
SELECT pg_catalog.current_setting('transaction_isolation')::pg_catalog.text AS isolation,
  ({{read_committed}})::pg_catalog.bool AS read_committed,
  ({{filtered_charts}})::pg_catalog.text AS filtered,
  (n.session_id IS NOT NULL)::pg_catalog.bool AS saved,
  (s.content_hash IS NOT NULL)::pg_catalog.bool AS chart_known, s.retired_at, s.retired_by
FROM (SELECT 1 AS one) AS o LEFT JOIN sg_chart AS s ON true LEFT JOIN sg_saved AS n ON true;

-- name: SavePositionForShare :one
-- SavePositionForShare is the form for REPEATABLE READ and SERIALIZABLE: see CreateExecutionForShare.
WITH sg_chart AS MATERIALIZED (
  SELECT c."retired_at" FROM {{charts}} AS c
  WHERE c."content_hash" OPERATOR(pg_catalog.=) @content_hash::pg_catalog.text
  FOR SHARE
), sg_saved AS (
  INSERT INTO {{positions}} AS n ({{id_column}}{{lead_columns}}"session_id", "content_hash", "identity_blob", "position_blob", "inserted_at", "updated_at")
  SELECT {{id_value}}{{lead_values}}@session_id::pg_catalog.text, @content_hash::pg_catalog.text, @identity_blob::pg_catalog.bytea,
    @position_blob::pg_catalog.bytea, t.now, t.now
  FROM {{now}} AS t CROSS JOIN sg_chart AS s
  WHERE s.retired_at IS NULL
    AND NOT {{charts_filtered}}
  ON CONFLICT ("session_id") DO UPDATE SET "content_hash" = EXCLUDED."content_hash", "identity_blob" = EXCLUDED."identity_blob",
    "position_blob" = EXCLUDED."position_blob", "updated_at" = EXCLUDED."updated_at"
  RETURNING n."session_id"
)
SELECT n.session_id FROM sg_saved AS n;

-- name: DeletePosition :one
-- DeletePosition removes a session's position. It makes no pin, so it takes no lock but the row's.
DELETE FROM {{positions}} AS p
WHERE p."session_id" OPERATOR(pg_catalog.=) @session_id::pg_catalog.text
RETURNING p."session_id";
