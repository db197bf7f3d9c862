-- name: LockChartShared :exec
-- LockChartShared takes a chart's shared lock. Like every lock statement it touches no table: in READ COMMITTED
-- the statement behind it gets a snapshot younger than the lock, and that is what makes the tombstone it reads
-- the last word.
SELECT {{lock_chart_shared}};

-- name: LockChartsShared :exec
-- LockChartsShared takes the shared locks of several charts: each key once, in ascending order, for two sessions that take
-- the same keys in other orders can deadlock with retirements in between.
SELECT {{lock_charts_shared}}
FROM (
  SELECT DISTINCT pg_catalog.unnest(ARRAY[{{keys_of_h}}]) AS key
  FROM pg_catalog.unnest(@content_hashes::pg_catalog.text[]) AS h (hash)
  ORDER BY key) AS k;

-- name: LockExecution :exec
-- LockExecution takes an execution's lock: one bigint, a key space that no chart lock is in.
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended(@execution_id::pg_catalog.text, 0));

-- name: LockChartExclusive :exec
-- LockChartExclusive takes a chart's exclusive lock and bounds the wait for it. At another level than READ
-- COMMITTED the lock is not taken at all: the pins would be counted in a snapshot from before the wait. The
-- statement behind it is already on its way, so what happened here is left in a transaction-local setting, and
-- that one acts only on "held <content hash>". It is planned for the hash at hand: the generic plan of a prepared
-- statement, which knows no value, reads whole tables in search of pins.
SELECT
  pg_catalog.set_config('lock_timeout', @lock_timeout::pg_catalog.text, true),
  pg_catalog.set_config('plan_cache_mode', 'force_custom_plan', true),
  pg_catalog.set_config('statigen.exclusive', CASE
    WHEN NOT ({{read_committed}}) THEN 'isolation'
    WHEN {{lock_chart_exclusive}} THEN 'held ' OPERATOR(pg_catalog.||) @content_hash::pg_catalog.text
    ELSE '' END, true);

-- name: LockChartExclusiveJoined :exec
-- LockChartExclusiveJoined is LockChartExclusive in a host's transaction, which may hold the chart's shared lock
-- already. Two such transactions that both ask for the exclusive one deadlock, so the upgrade is refused before
-- it waits. A transaction that holds the exclusive lock too (it retired, then read) upgrades nothing. Where an
-- upgrade is allowed, no key is waited for once any is held: with two keys, one may be exclusive by now and the
-- other still an upgrade.
SELECT
  pg_catalog.set_config('statigen.lock_timeout', pg_catalog.current_setting('lock_timeout'), true),
  pg_catalog.set_config('lock_timeout', @lock_timeout::pg_catalog.text, true),
  pg_catalog.set_config('statigen.plan_cache_mode', pg_catalog.current_setting('plan_cache_mode'), true),
  pg_catalog.set_config('plan_cache_mode', 'force_custom_plan', true),
  pg_catalog.set_config('statigen.exclusive', CASE
    WHEN NOT ({{read_committed}}) THEN 'isolation'
    WHEN h.upgrades AND NOT @allow_upgrade::pg_catalog.bool THEN 'upgrade'
    WHEN h.shared AND @allow_upgrade::pg_catalog.bool THEN CASE
      WHEN {{try_chart_exclusive}} THEN 'held ' OPERATOR(pg_catalog.||) @content_hash::pg_catalog.text
      ELSE 'busy' END
    WHEN {{lock_chart_exclusive}} THEN 'held ' OPERATOR(pg_catalog.||) @content_hash::pg_catalog.text
    ELSE '' END, true)
FROM (
  SELECT pg_catalog.count(*) OPERATOR(pg_catalog.>) 0 AS shared,
    pg_catalog.bool_or(NOT k.exclusive) IS TRUE AS upgrades
  FROM (
    SELECT pg_catalog.bool_or(l.mode OPERATOR(pg_catalog.=) 'ExclusiveLock') AS exclusive
    FROM pg_catalog.pg_locks AS l
    WHERE l.locktype OPERATOR(pg_catalog.=) 'advisory' AND l.granted
      AND l.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid()
      AND l.classid OPERATOR(pg_catalog.=) {{namespace}}::pg_catalog.oid AND l.objsubid OPERATOR(pg_catalog.=) 2
      AND l.objid OPERATOR(pg_catalog.=) ANY (ARRAY[{{chart_lock_objids}}])
    GROUP BY l.objid
    HAVING pg_catalog.bool_or(l.mode OPERATOR(pg_catalog.=) 'ShareLock')) AS k) AS h;

-- name: SetLockTimeout :exec
-- SetLockTimeout bounds the lock waits of the statements behind it, to the transaction's end at most.
SELECT
  pg_catalog.set_config('statigen.lock_timeout', pg_catalog.current_setting('lock_timeout'), true),
  pg_catalog.set_config('lock_timeout', @lock_timeout::pg_catalog.text, true);

-- name: RestoreLockTimeout :exec
-- RestoreLockTimeout puts a host's own lock_timeout back.
SELECT pg_catalog.set_config('lock_timeout', pg_catalog.current_setting('statigen.lock_timeout'), true);

-- name: RestoreSettings :exec
-- RestoreSettings puts back what LockChartExclusiveJoined changed.
SELECT
  pg_catalog.set_config('lock_timeout', pg_catalog.current_setting('statigen.lock_timeout'), true),
  pg_catalog.set_config('plan_cache_mode', pg_catalog.current_setting('statigen.plan_cache_mode'), true);

-- name: LockInfo :many
-- LockInfo reads a chart's keys, and for each who holds it and who waits. It takes no lock.
SELECT k.key::pg_catalog.int4 AS key, COALESCE(l.pid, 0)::pg_catalog.int4 AS pid,
  COALESCE(l.mode OPERATOR(pg_catalog.=) 'ExclusiveLock', false)::pg_catalog.bool AS exclusive,
  COALESCE(l.granted, false)::pg_catalog.bool AS granted,
  COALESCE(pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) l.waitstart), 0)::pg_catalog.float8 AS waiting,
  COALESCE(pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) a.xact_start), 0)::pg_catalog.float8 AS transaction,
  COALESCE(a.application_name, '')::pg_catalog.text AS application,
  pg_catalog.pg_blocking_pids(l.pid)::pg_catalog.int4[] AS blocked_by
FROM (SELECT pg_catalog.unnest(ARRAY[{{chart_lock_keys}}]) AS key) AS k
LEFT JOIN pg_catalog.pg_locks AS l ON l.locktype OPERATOR(pg_catalog.=) 'advisory'
  AND l.database OPERATOR(pg_catalog.=) (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
  AND l.classid OPERATOR(pg_catalog.=) {{namespace}}::pg_catalog.oid AND l.objsubid OPERATOR(pg_catalog.=) 2
  AND l.objid OPERATOR(pg_catalog.=) k.key::pg_catalog.oid
LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid OPERATOR(pg_catalog.=) l.pid
ORDER BY k.key, l.granted DESC, l.waitstart, l.pid;
