SELECT p.privilege
FROM unnest($3::text[]) WITH ORDINALITY AS p (privilege, n)
WHERE NOT CASE p.privilege
  WHEN 'DELETE' THEN has_table_privilege($2::oid, $1::oid, p.privilege)
  ELSE has_any_column_privilege($2::oid, $1::oid, p.privilege) END
ORDER BY p.n
