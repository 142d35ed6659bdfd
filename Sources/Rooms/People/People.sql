-- Users and their relations. The fragments of visibility are those of Fragments.sql.

-- fragment: user_columns(viewer)
-- A user for a viewer: the posts are those that the viewer sees.
app_user.id, app_user.user_name, app_user.name, app_user.given_name, app_user.family_name, app_user.bio,
  to_char(app_user.birth_date, 'YYYY-MM-DD') AS birth_date, app_user.email, app_user.email_verified_at IS NOT NULL AS is_email_verified,
  app_user.fields, app_user.created_at, app_user.revision,
  app_user.friends,
  CASE WHEN {sees(app_user.id, 'public', NULL, 'ready', NULL, {viewer})} THEN app_user.public_posts ELSE 0 END
  + CASE WHEN {sees(app_user.id, 'friends', NULL, 'ready', NULL, {viewer})} THEN app_user.friends_posts ELSE 0 END
  + CASE WHEN {sees(app_user.id, 'private', NULL, 'ready', NULL, {viewer})} THEN app_user.private_posts ELSE 0 END AS posts,
  {profile_image(app_user)} AS asset_set_id,
  (SELECT string_agg(kind, ' ') FROM relation
   WHERE relation.user_id = {viewer}::text AND relation.target = app_user.id) AS relations,
  EXISTS (SELECT FROM relation
   WHERE relation.user_id = app_user.id AND relation.target = {viewer}::text AND relation.kind = 'request') AS has_asked

-- name: user
SELECT {user_columns($2)} FROM app_user WHERE app_user.id = $1 AND {knows(app_user.id, $2)}

-- name: find_user
-- The user with an id, otherwise the one with a user name.
SELECT id FROM app_user WHERE id = $1 OR lower(user_name COLLATE "C") = lower($1 COLLATE "C") ORDER BY id <> $1 LIMIT 1

-- name: users_by_id
SELECT {user_columns($2)} FROM app_user WHERE app_user.id = ANY ($1::text[]) AND {knows(app_user.id, $2)} ORDER BY app_user.id

-- name: users_by_fields(conditions)
-- Those with some values of fields.
SELECT {user_columns($1)} FROM app_user WHERE {conditions} AND {knows(app_user.id, $1)} ORDER BY app_user.id LIMIT $2::int

-- name: user_with_email
-- Of a verified address. Who asks sees all.
SELECT {user_columns($2)} FROM app_user
WHERE lower(app_user.email COLLATE "C") = lower($1 COLLATE "C") AND app_user.email_verified_at IS NOT NULL

-- name: users
-- Who is found by the beginning of the user name, then by that of the name, and only if these are too few, in spite of
-- typing errors, ten at most: for each of up to three words the spellings that are close to it, then those who have one of
-- each. Each step has a limit, so that the cost depends on how many spellings there are, not on how many users.
WITH starting AS (
  (SELECT id, 0 AS place FROM app_user
   WHERE lower(user_name COLLATE "C") >= lower($1::text COLLATE "C")
     AND lower(user_name COLLATE "C") <= lower($1::text COLLATE "C") || chr(1114111)
     AND user_name IS NOT NULL AND {knows(app_user.id, $2)}
   ORDER BY lower(user_name COLLATE "C") LIMIT $3::int)
  UNION ALL
  (SELECT id, 1 FROM app_user
   WHERE folded_name ~>=~ folded_name($1::text) AND folded_name ~<=~ (folded_name($1::text) || chr(1114111))
     AND folded_name IS NOT NULL AND {knows(app_user.id, $2)}
   ORDER BY folded_name USING ~<~ LIMIT $3::int)),
asked AS MATERIALIZED (
  SELECT word FROM unnest(spellings(folded_name($1::text))) AS given (word)
  WHERE length(word) > 2 AND (SELECT count(DISTINCT id) FROM starting) < $3::int
  ORDER BY length(word) DESC, word LIMIT 3),
close AS MATERIALIZED (
  SELECT dense_rank() OVER (ORDER BY length(asked.word) DESC, asked.word) AS number, found.word, found.distance
  FROM asked CROSS JOIN LATERAL (
    SELECT spelling.word, asked.word <<-> spelling.word AS distance FROM spelling WHERE asked.word <% spelling.word
    ORDER BY distance, asked.word <-> spelling.word, spelling.word LIMIT 8) AS found),
alike AS (
  SELECT id, 2 AS place,
    (SELECT sum(nearest) FROM (
      SELECT min(distance) AS nearest FROM close WHERE word = ANY (words) GROUP BY number) AS distance) AS distance
  FROM (
    SELECT DISTINCT ON (id) having_word.id, having_word.words FROM close CROSS JOIN LATERAL (
      SELECT app_user.id, spellings(folded_names) AS words FROM app_user
      WHERE spellings(folded_names) @> ARRAY[close.word]
        AND spellings(folded_names) && coalesce((SELECT array_agg(word) FROM close WHERE number = 2), ARRAY[close.word])
        AND spellings(folded_names) && coalesce((SELECT array_agg(word) FROM close WHERE number = 3), ARRAY[close.word])
        AND {knows(app_user.id, $2)}
      LIMIT $3::int) AS having_word
    WHERE close.number = 1) AS candidate
  ORDER BY distance, id LIMIT least($3::int, 10)),
found AS (
  SELECT id, min(place) AS place, min(distance) AS distance
  FROM (SELECT id, place, 0.0 AS distance FROM starting UNION ALL SELECT id, place, distance FROM alike) AS candidate
  GROUP BY id)
SELECT {user_columns($2)} FROM found JOIN app_user ON app_user.id = found.id
ORDER BY found.place, found.distance, lower(app_user.user_name COLLATE "C"), app_user.id LIMIT $3::int

-- name: tolerate_errors
-- How alike a word must be: one wrong letter in a word of four. Until the end of the transaction.
SELECT set_config('pg_trgm.word_similarity_threshold', '0.4', true)

-- name: save_profile
INSERT INTO app_user AS saved (id, user_name, name, given_name, family_name, bio, birth_date, email, fields, revision)
VALUES ($1, $2, $3, $4, $5, $6, $7::date, $8, $9::jsonb, history_after() + 1)
ON CONFLICT (id) DO UPDATE SET
  user_name = excluded.user_name, name = excluded.name, given_name = excluded.given_name,
  family_name = excluded.family_name, bio = excluded.bio, birth_date = excluded.birth_date, email = excluded.email, fields = excluded.fields,
  revision = greatest(saved.revision, history_after()) + 1

-- name: add_users
INSERT INTO app_user (id) SELECT id FROM unnest($1::text[]) AS given (id) ORDER BY id ON CONFLICT DO NOTHING

-- name: lock_users
-- Serializes the changes of the relations between users. Of two users at least one has a row.
SELECT id, friends FROM app_user WHERE id = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE

-- name: lock_target_post
-- The post, before the rows that refer to it.
SELECT id, author FROM post WHERE public_id = $1::uuid AND {visible(author, visibility, moderation, status, $2)} FOR NO KEY UPDATE

-- name: relations_between
SELECT user_id, target, kind, created_at FROM relation
WHERE (user_id = $1 AND target = $2) OR (user_id = $2 AND target = $1)

-- name: relation
SELECT id, kind, user_id, target, created_at FROM relation WHERE user_id = $1 AND target = $2 AND kind = $3

-- name: add_relations
INSERT INTO relation (user_id, target, kind)
SELECT user_id, target, kind FROM unnest($1::text[], $2::text[], $3::text[]) AS given (user_id, target, kind)
ON CONFLICT DO NOTHING

-- name: drop_relations
DELETE FROM relation USING unnest($1::text[], $2::text[], $3::text[]) AS given (user_id, target, kind)
WHERE relation.user_id = given.user_id AND relation.target = given.target AND relation.kind = given.kind

-- name: relations_of_user
SELECT id, kind, user_id, target, created_at FROM relation AS listed
WHERE kind = $1 AND user_id = $2 AND (created_at, id) < ($3::timestamptz, $4::bigint) AND {knows(listed.target, $6)}
ORDER BY created_at DESC, id DESC LIMIT $5::int

-- name: relations_to_target
SELECT id, kind, user_id, target, created_at FROM relation AS listed
WHERE target = $2 AND kind = $1 AND (created_at, id) < ($3::timestamptz, $4::bigint)
  AND {unblocked(listed.user_id, $6)}
ORDER BY created_at DESC, id DESC LIMIT $5::int

-- name: relations_in_order(kind)
-- In the order of the user. Of a kind that users order an index has it.
SELECT id, kind, user_id, target, created_at, coalesce(1000000 - position, 1000000 + id) AS key FROM relation AS listed
WHERE kind = {kind} AND user_id = $1 AND (coalesce(1000000 - position, 1000000 + id), id) < ($2::bigint, $3::bigint)
  AND {knows(listed.target, $5)}
ORDER BY coalesce(1000000 - position, 1000000 + id) DESC, id DESC LIMIT $4::int

-- name: lock_relations
SELECT target FROM relation WHERE kind = $1 AND user_id = $2 AND target = ANY ($3::text[]) ORDER BY id FOR NO KEY UPDATE

-- name: arrange_relations
UPDATE relation SET position = arranged.position
FROM (
  SELECT own.id, given.position FROM relation AS own
  LEFT JOIN unnest($3::text[]) WITH ORDINALITY AS given (target, position) ON given.target = own.target
  WHERE own.kind = $1 AND own.user_id = $2 AND own.position IS DISTINCT FROM given.position) AS arranged
WHERE relation.id = arranged.id

-- name: relations_by_user
SELECT id, kind, target, created_at, position FROM relation
WHERE user_id = $1 AND kind <> 'blocked' AND id > $2::bigint ORDER BY id LIMIT $3::int

-- name: relations_of_user_or_to
-- The target of some kinds is a post or a place.
SELECT id FROM relation WHERE user_id = $1
UNION ALL
SELECT id FROM relation WHERE target = $1 AND kind IN ('friend', 'request', 'block', 'blocked')
LIMIT $2::int

-- name: lock_posts_of_relations
-- What the triggers of relations count in is locked before them, as by those who make and end relations.
SELECT post.id FROM post
WHERE public_id IN (SELECT target::uuid FROM relation WHERE id = ANY ($1::bigint[]) AND kind = 'like')
ORDER BY post.id FOR NO KEY UPDATE

-- name: lock_users_of_relations
SELECT app_user.id FROM app_user
WHERE id IN (
  SELECT user_id FROM relation WHERE id = ANY ($1::bigint[])
  UNION SELECT target FROM relation WHERE id = ANY ($1::bigint[]) AND kind IN ('friend', 'request', 'block', 'blocked'))
ORDER BY app_user.id FOR NO KEY UPDATE

-- name: lock_places_of_relations
SELECT place.number FROM place
WHERE id IN (SELECT target FROM relation WHERE id = ANY ($1::bigint[]) AND kind = 'favourite')
ORDER BY place.id FOR NO KEY UPDATE

-- name: drop_relations_among
DELETE FROM relation WHERE id = ANY ($1::bigint[])

-- name: drop_user
DELETE FROM app_user WHERE id = $1

-- fragment: user_counts(user)
-- The counters of a user, as they should be.
(SELECT count(*) FROM post WHERE post.author = {user} AND status = 'ready' AND visibility = 'public' AND min_age IS NULL),
  (SELECT count(*) FROM post WHERE post.author = {user} AND status = 'ready' AND visibility = 'friends' AND min_age IS NULL),
  (SELECT count(*) FROM post WHERE post.author = {user} AND status = 'ready' AND (visibility = 'private' OR min_age IS NOT NULL)),
  (SELECT count(*) FROM relation WHERE relation.user_id = {user} AND kind = 'friend')

-- name: check_users
SELECT id AS position, id,
  CASE WHEN (public_posts, friends_posts, private_posts, friends) IS DISTINCT FROM ({user_counts(page.id)}) THEN 'count_wrong' END AS code,
  'a counter differs from the rows that it counts' AS detail
FROM (SELECT * FROM app_user WHERE id > $1 ORDER BY id LIMIT $2::int) AS page ORDER BY id

-- name: lock_counted_user
SELECT FROM app_user WHERE id = $1 FOR NO KEY UPDATE

-- name: correct_user
UPDATE app_user SET (public_posts, friends_posts, private_posts, friends) = ({user_counts(app_user.id)}) WHERE id = $1

-- name: check_relations(posts)
-- The names of the kinds that refer to posts are {posts}.
SELECT id::text AS position, id::text AS id, code,
  format(CASE code WHEN 'relation_dangling' THEN '''%s'' of ''%s'' refers to ''%s'', a post that does not exist'
    ELSE '''%s'' of ''%s'' refers to ''%s'', a user without the other side' END, kind, user_id, target) AS detail
FROM (
  SELECT id, user_id, target, kind,
    CASE
      WHEN kind = ANY (ARRAY[{posts}]) AND NOT EXISTS (
        SELECT FROM post
        WHERE post.public_id = CASE WHEN page.target ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN page.target::uuid END)
        -- Those of a detached post go in pages.
        AND NOT EXISTS (SELECT FROM forgetting WHERE forgetting.user_id = 'deleted post ' || page.target)
        THEN 'relation_dangling'
      WHEN kind IN ('friend', 'block', 'blocked') AND NOT EXISTS (
        SELECT FROM relation AS mirror
        WHERE mirror.user_id = page.target AND mirror.target = page.user_id
          AND mirror.kind = CASE page.kind WHEN 'block' THEN 'blocked' WHEN 'blocked' THEN 'block' ELSE 'friend' END)
        THEN 'relation_one_sided'
    END AS code
  FROM (SELECT * FROM relation WHERE id > coalesce(nullif($1, '')::bigint, 0) ORDER BY id LIMIT $2::int) AS page) AS relation
ORDER BY relation.id

-- name: correct_relation
-- A block holds with its mirror; half of a friendship is none, and so is a relation to nothing.
WITH dropped AS (
  DELETE FROM relation WHERE id = $1::text::bigint AND kind <> 'block')
INSERT INTO relation (user_id, target, kind)
SELECT target, user_id, 'blocked' FROM relation WHERE id = $1::text::bigint AND kind = 'block'
ON CONFLICT DO NOTHING

-- name: check_spellings
-- The words of users' names that are no spellings, and the spellings that no user has.
SELECT word AS position, word AS id, 'spelling_wrong' AS code, 'the spellings differ from the names of users' AS detail
FROM (
  (SELECT unnest(spellings(folded_names)) AS word FROM app_user EXCEPT SELECT word FROM spelling)
  UNION ALL (SELECT word FROM spelling EXCEPT SELECT unnest(spellings(folded_names)) FROM app_user)) AS wrong
WHERE word > $1 ORDER BY word LIMIT $2::int

-- name: lock_spelling
WITH added AS (INSERT INTO spelling (word) VALUES ($1) ON CONFLICT DO NOTHING)
SELECT FROM spelling WHERE word = $1 FOR UPDATE

-- name: correct_spelling
DELETE FROM spelling WHERE word = $1
  AND NOT EXISTS (SELECT FROM app_user WHERE spellings(folded_names) @> ARRAY[$1::text])

-- name: add_author
-- Who has only commented, reacted or reported has no row yet.
INSERT INTO app_user (id)
SELECT $1 WHERE EXISTS (SELECT FROM comment WHERE author = $1) OR EXISTS (SELECT FROM image WHERE author = $1)
  OR EXISTS (SELECT FROM report WHERE author = $1)
ON CONFLICT DO NOTHING

-- name: seen_user
SELECT id FROM app_user WHERE id = $1 AND {knows(app_user.id, $2)} FOR NO KEY UPDATE

-- name: named_users
-- Users with their profile images: each asset has a row. A join with the ids reads the hash index, which = ANY would not.
SELECT app_user.id, app_user.user_name, app_user.name, app_user.fields, {asset_columns}
FROM unnest($1::text[]) AS named (id) JOIN app_user ON app_user.id = named.id
LEFT JOIN asset ON asset.asset_set_id = {profile_image(app_user)}
ORDER BY app_user.id, asset.id

-- name: own_relations
-- What a user has to any of these, and which of the users has asked for the friendship of the user. All that the user has is read from
-- the index and compared with a hash of the ids: a probe for each id would touch four pages.
SELECT target, kind FROM relation WHERE user_id = $1 AND target IN (SELECT unnest($2::text[]))
UNION ALL
SELECT user_id, 'received' FROM relation WHERE user_id = ANY ($3::text[]) AND target = $1 AND kind = 'request'
