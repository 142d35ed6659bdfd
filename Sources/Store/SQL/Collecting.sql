-- name: examine_released
-- The releases whose pause of $2 seconds has ended, the oldest first; with 0 all, whatever the clock says. No rows during a hold. A hold that
-- starts after this check is detected by the statements that follow. What has references again is not released any more, and what was released
-- once more waits for that release. OFFSET 0: of all that waits, the planner expects so many rows that it would read whole tables for a few. A
-- time from the future, by a clock that has stepped back, is worth the present.
WITH pause AS MATERIALIZED (
  SELECT CASE WHEN $2::float8 > 0 THEN statement_timestamp() - make_interval(secs => $2::float8) ELSE 'infinity' END AS ended),
examined AS MATERIALIZED (
  SELECT id, hash, EXISTS (SELECT FROM asset WHERE blob = blob_release.hash OFFSET 0)
    OR EXISTS (SELECT FROM quarantined_input WHERE blob = blob_release.hash OFFSET 0)
    OR EXISTS (
      SELECT FROM blob_release AS later WHERE later.hash = blob_release.hash AND later.released_at > (SELECT ended FROM pause) OFFSET 0
    ) AS stays
  FROM blob_release
  WHERE released_at <= (SELECT ended FROM pause)
    AND NOT EXISTS (SELECT FROM collection_hold WHERE ends_at > statement_timestamp())
  ORDER BY released_at, id LIMIT $1::int FOR UPDATE OF blob_release SKIP LOCKED),
dropped AS (DELETE FROM blob_release WHERE id IN (SELECT id FROM examined WHERE stays)),
dated AS (
  UPDATE blob_release SET released_at = statement_timestamp() WHERE id IN (
    SELECT id FROM blob_release WHERE released_at > greatest(statement_timestamp(), (SELECT ended FROM pause))
    ORDER BY released_at, id LIMIT 100 * $1::int FOR UPDATE SKIP LOCKED))
SELECT id, stays FROM examined

-- name: drop_released
DELETE FROM blob_release WHERE id = ANY ($1::bigint[]) RETURNING hash

-- name: insert_removal
-- No row if the content is being removed already.
INSERT INTO blob_removal (hash, bytes) VALUES ($1, $2::bigint) ON CONFLICT (hash) DO NOTHING RETURNING id

-- name: publication_states
-- What a publication depends on: it reads the counts before it publishes the content, and its transaction compares them after it has locked
-- the rows.
SELECT name.hash, coalesce(removal_count.removals, 0) AS removals,
  EXISTS (SELECT FROM blob_removal WHERE blob_removal.hash = name.hash) AS is_removed,
  EXISTS (SELECT FROM blob_damage WHERE blob_damage.hash = name.hash) AS is_damaged
FROM unnest($1::bytea[]) AS name (hash)
LEFT JOIN removal_count ON slot = get_byte(name.hash, 0) * 256 + get_byte(name.hash, 1)

-- name: take_overdue_removals
-- The removals of processes that have ended, or whose removal failed. That of content whose row has stayed is forgotten: it is decided
-- again. A time from the future, by a clock that has stepped back, is worth the present.
WITH found AS MATERIALIZED (
  SELECT hash, begun_at > statement_timestamp() AS is_future, EXISTS (SELECT FROM blob WHERE blob.hash = blob_removal.hash) AS has_row
  FROM blob_removal
  WHERE begun_at < statement_timestamp() - make_interval(secs => $1::float8) OR begun_at > statement_timestamp()
  ORDER BY hash LIMIT $2::int FOR UPDATE OF blob_removal SKIP LOCKED),
forgotten AS (
  DELETE FROM blob_removal USING found WHERE blob_removal.hash = found.hash AND has_row AND NOT is_future),
taken AS (
  UPDATE blob_removal SET begun_at = clock_timestamp(), id = CASE WHEN is_future THEN id ELSE nextval('blob_removal_id_seq') END FROM found
  WHERE blob_removal.hash = found.hash AND (is_future OR NOT has_row)
  RETURNING id, found.hash, bytes, is_future)
SELECT id, hash, bytes FROM taken WHERE NOT is_future ORDER BY hash

-- name: end_removals
DELETE FROM blob_removal WHERE id = ANY ($1::bigint[])

-- name: lock_collecting_shared
-- Every transaction that decides what is removed holds this lock: a hold starts only after they have ended.
SELECT pg_advisory_xact_lock_shared(hashtextextended('collecting', 2))

-- name: lock_collecting
SELECT pg_advisory_xact_lock(hashtextextended('collecting', 2))

-- name: hold
SELECT ends_at FROM collection_hold WHERE ends_at > statement_timestamp()

-- name: insert_hold
-- A hold is never shortened: another process may rely on it.
INSERT INTO collection_hold (ends_at) VALUES (clock_timestamp() + make_interval(secs => $1::float8))
ON CONFLICT (is_only) DO UPDATE SET ends_at = greatest(collection_hold.ends_at, excluded.ends_at)
RETURNING ends_at

-- name: drop_hold
DELETE FROM collection_hold RETURNING ends_at > clock_timestamp() AS was_held

-- name: drop_own_hold
-- Not one that another process has prolonged since.
DELETE FROM collection_hold WHERE ends_at <= $1::timestamptz

-- name: lock_blob
-- The row is locked before its references are checked: a writer of the same bytes waits for the result.
SELECT FROM blob WHERE hash = $1 FOR UPDATE

-- name: is_referenced
SELECT WHERE EXISTS (SELECT FROM asset WHERE blob = $1) OR EXISTS (SELECT FROM quarantined_input WHERE blob = $1)

-- name: drop_blob
DELETE FROM blob WHERE hash = $1 RETURNING bytes

-- name: claim_blob
-- Inserts the row for a file that has none and is not being removed. It waits for a transaction that publishes the same bytes; later
-- ones wait for it.
INSERT INTO blob (hash, bytes) SELECT $1, $2::bigint WHERE NOT EXISTS (SELECT FROM blob_removal WHERE hash = $1)
ON CONFLICT (hash) DO NOTHING RETURNING hash

-- name: orphan_sets
-- The sets, among those given, that no post and no image refers to, that were not replaced and are not kept.
SELECT id FROM asset_set
WHERE id = ANY ($1::bigint[]) AND retired_at IS NULL AND NOT is_kept
  AND NOT EXISTS (SELECT FROM post WHERE post.asset_set_id = asset_set.id)
  AND NOT EXISTS (SELECT FROM post WHERE post.source_set_id = asset_set.id)
  AND NOT EXISTS (SELECT FROM image WHERE image.asset_set_id = asset_set.id)
  AND NOT EXISTS (SELECT FROM image WHERE image.source_set_id = asset_set.id)
ORDER BY id FOR UPDATE

-- name: retired_sets_of_blob
SELECT id, replaced_by FROM asset_set
WHERE id IN (SELECT asset_set_id FROM asset WHERE blob = $1) AND retired_at IS NOT NULL AND NOT is_kept
  AND NOT EXISTS (SELECT FROM post WHERE post.asset_set_id = asset_set.id)
  AND NOT EXISTS (SELECT FROM post WHERE post.source_set_id = asset_set.id)
  AND NOT EXISTS (SELECT FROM image WHERE image.asset_set_id = asset_set.id)
  AND NOT EXISTS (SELECT FROM image WHERE image.source_set_id = asset_set.id)
ORDER BY id FOR UPDATE
