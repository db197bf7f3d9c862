-- name: Chart :one
-- Chart reads one chart, tombstone or not.
SELECT {{lead_of_c}}c."content_hash", c."identity_blob", c."chart_blob", c."inserted_at", c."updated_at",
  c."retired_at", c."retired_by", c."id"
FROM {{charts}} AS c
WHERE c."content_hash" OPERATOR(pg_catalog.=) @content_hash::pg_catalog.text;

-- name: SaveChart :one
-- SaveChart writes a chart unless its row is there, as a tombstone or not. At the higher levels ON CONFLICT fails with 40001 on a
-- row that the snapshot does not show, so a save needs no second form for them.
WITH sg_chart AS MATERIALIZED (
  SELECT c."content_hash", c."retired_at", c."retired_by" FROM {{charts}} AS c
  WHERE c."content_hash" OPERATOR(pg_catalog.=) @content_hash::pg_catalog.text
), sg_saved AS (
  INSERT INTO {{charts}} AS n ({{id_column}}{{lead_columns}}"content_hash", "identity_blob", "chart_blob", "inserted_at", "updated_at")
  SELECT {{id_value}}{{lead_values}}@content_hash::pg_catalog.text, @identity_blob::pg_catalog.bytea, @chart_blob::pg_catalog.bytea, t.now, t.now
  FROM {{now}} AS t
  WHERE NOT {{charts_filtered}}
  ON CONFLICT ("content_hash") DO NOTHING
  RETURNING n."content_hash"
)
SELECT ({{filtered_charts}})::pg_catalog.text AS filtered,
  (n.content_hash IS NOT NULL OR s.content_hash IS NOT NULL)::pg_catalog.bool AS stored, s.retired_at, s.retired_by
FROM (SELECT 1 AS one) AS o LEFT JOIN sg_chart AS s ON true LEFT JOIN sg_saved AS n ON true;

-- name: ChartState :one
-- ChartState reads a chart's tombstone, and what the answer is worth.
SELECT pg_catalog.current_setting('transaction_isolation')::pg_catalog.text AS isolation,
  ({{read_committed}})::pg_catalog.bool AS read_committed,
  (pg_catalog.current_setting('transaction_read_only') OPERATOR(pg_catalog.=) 'on')::pg_catalog.bool AS read_only,
  ({{filtered_charts}})::pg_catalog.text AS filtered,
  (c."content_hash" IS NOT NULL)::pg_catalog.bool AS known, c."retired_at", c."retired_by"
FROM (SELECT 1 AS one) AS o
LEFT JOIN {{charts}} AS c ON c."content_hash" OPERATOR(pg_catalog.=) @content_hash::pg_catalog.text;

-- name: ChartStateForShare :one
-- ChartStateForShare is the form for the higher levels, where the snapshot may be older than the lock. FOR
-- SHARE fails with 40001 on a row that has changed since; FOR KEY SHARE would not, for a tombstone changes no
-- key.
SELECT c."retired_at", c."retired_by" FROM {{charts}} AS c
WHERE c."content_hash" OPERATOR(pg_catalog.=) @content_hash::pg_catalog.text
FOR SHARE;
