SELECT DISTINCT quote_ident(n.nspname) || '.' || quote_ident(s.relname)
FROM pg_attrdef AS d
JOIN pg_depend AS p ON p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid AND p.refclassid = 'pg_class'::regclass
JOIN pg_class AS s ON s.oid = p.refobjid
JOIN pg_namespace AS n ON n.oid = s.relnamespace
WHERE d.adrelid = $1::oid AND CASE WHEN s.relkind = 'S' THEN NOT has_sequence_privilege($2::oid, s.oid, 'USAGE, UPDATE') END
