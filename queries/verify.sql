-- name: Session :one
-- Session reads what this session's transactions may do.
SELECT pg_catalog.pg_is_in_recovery()::pg_catalog.bool AS standby,
  (pg_catalog.current_setting('transaction_read_only') OPERATOR(pg_catalog.=) 'on')::pg_catalog.bool AS read_only,
  pg_catalog.current_setting('search_path')::pg_catalog.text AS search_path;

-- name: TakeProbeLocks :exec
-- TakeProbeLocks takes both kinds of advisory lock on a key that nobody else has: its first half is not that of the
-- chart locks, its second half is the session's own, and an execution's lock is in another key space.
SELECT pg_catalog.pg_advisory_xact_lock_shared({{probe_namespace}}, pg_catalog.pg_backend_pid()),
  pg_catalog.pg_advisory_xact_lock({{probe_namespace}}, pg_catalog.pg_backend_pid());

-- name: ProbeLocks :one
-- ProbeLocks reads what TakeProbeLocks came to. It is a statement of its own, so that no plan can look before the lock
-- is taken.
SELECT COALESCE(pg_catalog.bool_or(l.mode OPERATOR(pg_catalog.=) 'ShareLock'), false)::pg_catalog.bool AS shared,
  COALESCE(pg_catalog.bool_or(l.mode OPERATOR(pg_catalog.=) 'ExclusiveLock'), false)::pg_catalog.bool AS exclusive
FROM pg_catalog.pg_locks AS l
WHERE l.locktype OPERATOR(pg_catalog.=) 'advisory' AND l.granted
  AND l.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid()
  AND l.classid OPERATOR(pg_catalog.=) {{probe_namespace}}::pg_catalog.oid AND l.objsubid OPERATOR(pg_catalog.=) 2
  AND l.objid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid()::pg_catalog.oid;

-- name: TablesFound :many
-- TablesFound reads what stands where the store's tables should, and what this role may do there. A table is looked for in
-- the catalogs and not by its name alone, which is an error to a role that may not use the schema. A sequence is that of
-- a bigserial id, if this role may not use it.
SELECT t.concept::pg_catalog.text AS concept, t.relation::pg_catalog.text AS relation,
  COALESCE(n.nspname, '')::pg_catalog.text AS schema, COALESCE(pg_catalog.quote_ident(n.nspname), '')::pg_catalog.text AS quoted_schema,
  COALESCE(c.relkind, '')::pg_catalog.text AS kind,
  COALESCE(c.relpersistence OPERATOR(pg_catalog.=) 't', false)::pg_catalog.bool AS temporary,
  COALESCE(pg_catalog.row_security_active(c.oid), false)::pg_catalog.bool AS filtered,
  COALESCE(pg_catalog.has_schema_privilege(n.oid, 'USAGE'), false)::pg_catalog.bool AS usable_schema,
  COALESCE(pg_catalog.has_any_column_privilege(c.oid, 'SELECT'), false)::pg_catalog.bool AS may_select,
  COALESCE(pg_catalog.has_any_column_privilege(c.oid, 'INSERT'), false)::pg_catalog.bool AS may_insert,
  COALESCE(pg_catalog.has_any_column_privilege(c.oid, 'UPDATE'), false)::pg_catalog.bool AS may_update,
  COALESCE(pg_catalog.has_table_privilege(c.oid, 'DELETE'), false)::pg_catalog.bool AS may_delete,
  COALESCE((
    SELECT pg_catalog.quote_ident(s.relname)
    FROM pg_catalog.pg_depend AS d
    JOIN pg_catalog.pg_class AS s ON s.oid OPERATOR(pg_catalog.=) d.objid
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) d.refobjid AND a.attnum OPERATOR(pg_catalog.=) d.refobjsubid
    WHERE d.refobjid OPERATOR(pg_catalog.=) c.oid AND d.deptype OPERATOR(pg_catalog.=) 'a' AND a.attname OPERATOR(pg_catalog.=) 'id'
      AND CASE WHEN s.relkind OPERATOR(pg_catalog.=) 'S' THEN NOT pg_catalog.has_sequence_privilege(s.oid, 'USAGE, UPDATE') END
    LIMIT 1), '')::pg_catalog.text AS sequence,
  ARRAY(
    SELECT m.nspname::pg_catalog.text
    FROM pg_catalog.pg_class AS o
    JOIN pg_catalog.pg_namespace AS m ON m.oid OPERATOR(pg_catalog.=) o.relnamespace
    WHERE t.prefix OPERATOR(pg_catalog.=) '' AND o.relname OPERATOR(pg_catalog.=) t.name
      AND o.relkind OPERATOR(pg_catalog.=) ANY ('{r,p}'::pg_catalog."char"[]) AND o.relpersistence OPERATOR(pg_catalog.<>) 't'
    ORDER BY m.nspname)::pg_catalog.text[] AS schemas
FROM {{tables}} AS t (concept, relation, name, prefix, found)
LEFT JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) t.found
LEFT JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace;

-- name: ColumnsFound :many
-- ColumnsFound reads the columns of the store's tables, the host's own among them.
SELECT t.concept::pg_catalog.text AS concept, a.attname::pg_catalog.text AS name,
  (n.nspname::pg_catalog.text OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) y.typname::pg_catalog.text)::pg_catalog.text AS type,
  a.attnotnull::pg_catalog.bool AS not_null,
  (a.atthasdef OR a.attidentity OPERATOR(pg_catalog.<>) '')::pg_catalog.bool AS has_default,
  COALESCE(l.collisdeterministic, true)::pg_catalog.bool AS deterministic
FROM {{tables}} AS t (concept, relation, name, prefix, found)
JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) t.found AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped
JOIN pg_catalog.pg_type AS y ON y.oid OPERATOR(pg_catalog.=) a.atttypid
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) y.typnamespace
LEFT JOIN pg_catalog.pg_collation AS l ON l.oid OPERATOR(pg_catalog.=) a.attcollation
ORDER BY a.attrelid, a.attnum;

-- name: UniqueIndexesFound :many
-- UniqueIndexesFound reads the columns of every unique index that ON CONFLICT would take for them alone.
SELECT t.concept::pg_catalog.text AS concept,
  ARRAY(
    SELECT pg_catalog.pg_get_indexdef(i.indexrelid, k.k, false)
    FROM pg_catalog.generate_series(1, i.indnkeyatts::pg_catalog.int4) AS k (k)
    ORDER BY 1)::pg_catalog.text[] AS columns
FROM {{tables}} AS t (concept, relation, name, prefix, found)
JOIN pg_catalog.pg_index AS i ON i.indrelid OPERATOR(pg_catalog.=) t.found
WHERE i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL;
