SELECT x.relname::text AS name, m.amname::text AS method, COALESCE(pg_get_expr(i.indpred, i.indrelid), '') AS predicate,
  i.indisunique AS unique, i.indisvalid AND i.indisready AS valid, i.indimmediate AS immediate,
  EXISTS (SELECT FROM pg_constraint AS o WHERE o.conindid = i.indexrelid AND o.conrelid = i.indrelid AND o.contype IN ('u', 'x')) AS constraint,
  array_agg(COALESCE(a.attname::text, pg_get_indexdef(i.indexrelid, k.n::int4, true)) ORDER BY k.n) AS columns,
  array_agg(COALESCE(c.collname::text, '') ORDER BY k.n) AS collations,
  array_agg(COALESCE(cn.nspname::text, '') ORDER BY k.n) AS collation_schemas,
  array_agg(CASE WHEN o.opcdefault THEN '' ELSE o.opcname::text END ORDER BY k.n) AS classes,
  array_agg(CASE WHEN o.opcdefault THEN '' ELSE n.nspname::text END ORDER BY k.n) AS class_schemas,
  array_agg(i.indoption[k.n - 1]::int4 ORDER BY k.n) AS options
FROM pg_index AS i
JOIN pg_class AS x ON x.oid = i.indexrelid
JOIN pg_am AS m ON m.oid = x.relam
CROSS JOIN LATERAL generate_series(1, i.indnkeyatts) AS k (n)
LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k.n - 1] AND a.attnum <> 0
LEFT JOIN pg_collation AS c ON c.oid = i.indcollation[k.n - 1] AND c.oid IS DISTINCT FROM a.attcollation
LEFT JOIN pg_namespace AS cn ON cn.oid = c.collnamespace
JOIN pg_opclass AS o ON o.oid = i.indclass[k.n - 1]
JOIN pg_namespace AS n ON n.oid = o.opcnamespace
WHERE i.indrelid = $1 AND NOT i.indisprimary
GROUP BY x.relname, m.amname, i.indexrelid, i.indrelid, i.indpred, i.indisunique, i.indisvalid, i.indisready, i.indimmediate
ORDER BY x.relname
