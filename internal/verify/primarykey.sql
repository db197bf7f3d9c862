SELECT o.conname::text AS name,
  ARRAY(SELECT a.attname::text FROM unnest(o.conkey) WITH ORDINALITY AS k (attnum, n)
    JOIN pg_attribute AS a ON a.attrelid = o.conrelid AND a.attnum = k.attnum ORDER BY k.n) AS columns
FROM pg_constraint AS o
WHERE o.conrelid = $1::oid AND o.contype = 'p'
