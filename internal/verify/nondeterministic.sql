SELECT a.attname::text
FROM pg_attribute AS a
JOIN pg_collation AS c ON c.oid = a.attcollation
WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped AND NOT c.collisdeterministic
ORDER BY a.attnum
