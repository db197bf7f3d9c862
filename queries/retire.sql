-- name: RetireChart :one
-- RetireChart counts the pins, writes the tombstone if there are none, and says in one row what it found. It
-- acts only if the lock statement before it left word that the lock is held for this chart. A count stops at a
-- given number of rows: "some" is enough of an answer while creates wait. Ended executions pin nothing; they
-- are counted only for the report of a refusal.
WITH sg_call AS MATERIALIZED (
  SELECT pg_catalog.current_setting('transaction_isolation') AS isolation,
    COALESCE(pg_catalog.current_setting('statigen.exclusive', true), '') AS lock,
    ({{filtered_tables}}) AS filtered,
    pg_catalog.timezone('UTC', pg_catalog.clock_timestamp()) AS now
), sg_chart AS MATERIALIZED (
  SELECT c."content_hash", c."retired_at", c."retired_by" FROM {{charts}} AS c
  WHERE c."content_hash" OPERATOR(pg_catalog.=) @content_hash::pg_catalog.text
), sg_live AS MATERIALIZED (
  SELECT
    pg_catalog.count(*) FILTER (WHERE l.status OPERATOR(pg_catalog.=) 'active') AS active,
    pg_catalog.count(*) FILTER (WHERE l.status OPERATOR(pg_catalog.=) 'needs_migration') AS needs_migration
  FROM (
    SELECT e."status" FROM {{executions}} AS e
    WHERE e."content_hash" OPERATOR(pg_catalog.=) @content_hash::pg_catalog.text
      AND e."status" OPERATOR(pg_catalog.=) ANY ({{live_statuses}})
    LIMIT @most::pg_catalog.int8) AS l
), sg_positions AS MATERIALIZED (
  SELECT pg_catalog.count(*) AS positions
  FROM (
    SELECT 1 AS one FROM {{positions}} AS p
    WHERE p."content_hash" OPERATOR(pg_catalog.=) @content_hash::pg_catalog.text
    LIMIT @most::pg_catalog.int8) AS l
), sg_children AS MATERIALIZED (
  SELECT pg_catalog.count(*) AS children
  FROM (
    SELECT 1 AS one
    FROM {{executions}} AS c
    JOIN {{executions}} AS p ON {{live_parent_of_child}}
    WHERE {{child_pins_chart}}
    LIMIT @most::pg_catalog.int8) AS l
), sg_pins AS MATERIALIZED (
  SELECT l.active, l.needs_migration, p.positions, c.children,
    l.active OPERATOR(pg_catalog.+) l.needs_migration OPERATOR(pg_catalog.+) p.positions OPERATOR(pg_catalog.+) c.children AS pins
  FROM sg_live AS l CROSS JOIN sg_positions AS p CROSS JOIN sg_children AS c
), sg_all AS MATERIALIZED (
  SELECT
    pg_catalog.count(*) AS seen,
    pg_catalog.count(*) FILTER (WHERE l.status OPERATOR(pg_catalog.=) 'completed') AS completed,
    pg_catalog.count(*) FILTER (WHERE l.status OPERATOR(pg_catalog.=) 'failed') AS failed,
    pg_catalog.count(*) FILTER (WHERE l.status OPERATOR(pg_catalog.=) 'cancelled') AS cancelled
  FROM (
    SELECT e."status" FROM {{executions}} AS e
    WHERE e."content_hash" OPERATOR(pg_catalog.=) @content_hash::pg_catalog.text
      AND (SELECT n.pins FROM sg_pins AS n) OPERATOR(pg_catalog.>) 0
    LIMIT @most::pg_catalog.int8) AS l
), sg_retired AS (
  UPDATE {{charts}} AS u
  SET "retired_at" = t.now, "retired_by" = @retired_by::pg_catalog.text, "updated_at" = t.now,
    "identity_blob" = NULL, "chart_blob" = NULL
  FROM sg_call AS t CROSS JOIN sg_pins AS n
  WHERE u."content_hash" OPERATOR(pg_catalog.=) @content_hash::pg_catalog.text AND u."retired_at" IS NULL
    AND {{read_committed}}
    AND t.lock OPERATOR(pg_catalog.=) ('held ' OPERATOR(pg_catalog.||) @content_hash::pg_catalog.text)
    AND t.filtered OPERATOR(pg_catalog.=) ''
    AND n.pins OPERATOR(pg_catalog.=) 0
  RETURNING u."retired_at"
)
SELECT t.isolation::pg_catalog.text AS isolation, t.lock::pg_catalog.text AS lock, t.filtered::pg_catalog.text AS filtered,
  (u.retired_at IS NOT NULL)::pg_catalog.bool AS retired, COALESCE(u.retired_at, c.retired_at) AS retired_at, c.retired_by,
  (c.content_hash IS NOT NULL)::pg_catalog.bool AS known,
  n.active::pg_catalog.int8 AS active, n.needs_migration::pg_catalog.int8 AS needs_migration,
  n.positions::pg_catalog.int8 AS positions, n.children::pg_catalog.int8 AS children,
  a.completed::pg_catalog.int8 AS completed, a.failed::pg_catalog.int8 AS failed, a.cancelled::pg_catalog.int8 AS cancelled,
  (GREATEST(n.active OPERATOR(pg_catalog.+) n.needs_migration, n.positions, n.children, a.seen)
    OPERATOR(pg_catalog.=) @most::pg_catalog.int8)::pg_catalog.bool AS more
FROM sg_call AS t CROSS JOIN sg_pins AS n CROSS JOIN sg_all AS a
LEFT JOIN sg_chart AS c ON true LEFT JOIN sg_retired AS u ON true;
