SELECT c.oid AS oid, n.nspname::text AS schema, c.relkind::text AS kind, c.relpersistence::text AS persistence,
  has_schema_privilege($2::oid, n.oid, 'USAGE') AS usable, has_schema_privilege(n.oid, 'USAGE') AS usable_here,
  c.relrowsecurity AND (c.relforcerowsecurity OR NOT pg_has_role($2::oid, c.relowner, 'USAGE'))
    AND NOT (SELECT r.rolsuper OR r.rolbypassrls FROM pg_roles AS r WHERE r.oid = $2::oid) AS filtered
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.oid = $1::oid
