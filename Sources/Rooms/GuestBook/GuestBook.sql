-- The guest books of places.

-- fragment: entry_columns
entry.id, entry.public_id, entry.place_id, entry.author, entry.text, entry.created_at, entry.is_hidden

-- name: insert_entry
INSERT INTO guest_book_entry AS entry (public_id, place_id, author, text) VALUES ($1::uuid, $2, $3, $4) RETURNING {entry_columns}

-- name: entry
SELECT {entry_columns} FROM guest_book_entry AS entry WHERE public_id = $1::uuid AND {shown(entry, $2)}

-- name: lock_entry
SELECT {entry_columns} FROM guest_book_entry AS entry WHERE public_id = $1::uuid AND {shown(entry, $2)} FOR UPDATE

-- name: entries
SELECT {entry_columns} FROM guest_book_entry AS entry
WHERE entry.place_id = $1 AND (entry.created_at, entry.id) < ($2::timestamptz, $3::bigint) AND {shown(entry, $5)}
ORDER BY entry.created_at DESC, entry.id DESC LIMIT $4::int

-- name: drop_entry
DELETE FROM guest_book_entry WHERE public_id = $1::uuid

-- name: hide_entry
UPDATE guest_book_entry SET is_hidden = $2::boolean WHERE public_id = $1::uuid AND is_hidden <> $2::boolean

-- name: count_entries
INSERT INTO guest_book (place_id, entries) VALUES ($1, $2::int)
ON CONFLICT (place_id) DO UPDATE SET entries = guest_book.entries + excluded.entries

-- name: entries_of_place
SELECT coalesce((SELECT entries FROM guest_book WHERE place_id = $1), 0)

-- name: entries_by_user
SELECT {entry_columns} FROM guest_book_entry AS entry WHERE author = $1 AND id > $2::bigint ORDER BY id LIMIT $3::int

-- name: lock_books_of_user
SELECT FROM guest_book WHERE place_id IN (
  SELECT place_id FROM guest_book_entry WHERE author = $1 ORDER BY id LIMIT $2::int) ORDER BY place_id FOR UPDATE

-- name: drop_entries_of_user
WITH gone AS (
  DELETE FROM guest_book_entry WHERE id IN (SELECT id FROM guest_book_entry WHERE author = $1 ORDER BY id LIMIT $2::int)
  RETURNING place_id, is_hidden)
UPDATE guest_book SET entries = guest_book.entries - gone.entries
FROM (SELECT place_id, count(*) FILTER (WHERE NOT is_hidden) AS entries FROM gone GROUP BY place_id) AS gone
WHERE guest_book.place_id = gone.place_id

-- fragment: entry_count(place)
(SELECT count(*) FROM guest_book_entry AS entry WHERE entry.place_id = {place} AND NOT entry.is_hidden)

-- name: check_books
SELECT id AS position, id, CASE WHEN counted <> {entry_count(page.id)} THEN 'count_wrong' END AS code,
  'a counter differs from the rows that it counts' AS detail
FROM (
  SELECT place.id, coalesce(guest_book.entries, 0) AS counted
  FROM place LEFT JOIN guest_book ON guest_book.place_id = place.id WHERE place.id > $1 ORDER BY place.id LIMIT $2::int) AS page
ORDER BY id

-- name: lock_book
INSERT INTO guest_book AS locked (place_id, entries) VALUES ($1, 0) ON CONFLICT (place_id) DO UPDATE SET entries = locked.entries

-- name: correct_book
UPDATE guest_book SET entries = {entry_count(guest_book.place_id)} WHERE place_id = $1
