SELECT a.attname::text AS name, tn.nspname::text AS type_schema, t.typname::text AS type,
  COALESCE(substring(format_type(a.atttypid, a.atttypmod) FROM '\([0-9,]+\)'), '') AS modifier,
  COALESCE(cn.nspname, '')::text AS collation_schema, COALESCE(c.collname, '')::text AS collation,
  a.attnotnull AS not_null,
  a.attidentity <> '' OR COALESCE(pg_get_expr(d.adbin, d.adrelid), '') LIKE 'nextval(%' AS counted,
  a.attgenerated <> '' AS generated, COALESCE(pg_get_expr(d.adbin, d.adrelid), '') AS default,
  EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = a.attrelid AND i.indisprimary AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum) AS primary_key
FROM pg_attribute AS a
JOIN pg_type AS t ON t.oid = a.atttypid
JOIN pg_namespace AS tn ON tn.oid = t.typnamespace
LEFT JOIN pg_collation AS c ON c.oid = a.attcollation AND a.attcollation <> t.typcollation
LEFT JOIN pg_namespace AS cn ON cn.oid = c.collnamespace
LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
