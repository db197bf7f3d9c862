SELECT n.nspname::text AS schema, c.relname::text AS name, n.nspname::text = ANY ($2::text[]) AS searched
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relname::text = ANY ($1::text[]) AND c.relkind IN ('r', 'p') AND c.relpersistence <> 't'
ORDER BY n.nspname, c.relname
