SELECT c.relname::text
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname::text = $1::text AND c.relname::text = ANY ($2::text[])
  AND NOT EXISTS (SELECT FROM pg_index AS i WHERE i.indexrelid = c.oid AND i.indrelid = ANY ($3::oid[]))
