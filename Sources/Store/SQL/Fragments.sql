-- What the statements of several files share.

-- fragment: visible(author, visibility, moderation, status, viewer)
-- The rule of visibility for a row that the statement calls `post`.
{sees({author}, {visibility}, {moderation}, {status}, post.min_age, {viewer})}

-- fragment: sees(author, visibility, moderation, status, min_age, viewer)
-- The rule of visibility, the only one: whether a viewer sees a post. A viewer of NULL is a client that acts as no user;
-- that of a client without a credential is empty, which is no user's id. A post that is held or hidden by moderation is for its author alone,
-- and so is one whose media were rejected or failed: there is nothing to show, and the words were for what is not there.
-- Everything that belongs to a post (comments, reactions, media, counts) is as visible as the post.
({viewer}::text IS NULL OR {author} = {viewer}::text
  OR {moderation} IS NULL AND {status} IN ('ready', 'processing') AND {is_old_enough({min_age}, {viewer})} AND (
    {visibility} = 'public' AND {unblocked({author}, {viewer})}
    OR {visibility} = 'friends' AND (
      SELECT true FROM relation
      WHERE relation.user_id = {viewer}::text AND relation.target = {author} AND relation.kind = 'friend') IS NOT NULL))

-- fragment: shows_media(post, viewer)
-- Whether a viewer who sees a post sees its current set: a first look may be for the author alone. A client without a credential sees
-- none: what it gets may be kept in shared caches for longer than the look is there.
({post}.look IS NULL OR {viewer}::text IS NULL OR {post}.author = {viewer}::text OR {post}.look = 'viewers' AND {viewer}::text <> '')

-- fragment: look_key(post)
-- The unique key of the job that makes the first look of a post.
convert_to('look:' || {post}, 'UTF8')

-- fragment: is_old_enough(min_age, viewer)
-- Whether a viewer may see a post from an age on, by the date of the database. A user whose birth date is unknown may if the operator says
-- so, and a client without a credential may not: it could be anyone.
({min_age} IS NULL OR {viewer}::text <> '' AND coalesce(
  (SELECT birth_date FROM app_user WHERE app_user.id = {viewer}::text) + make_interval(years => {min_age}) <= current_date,
  (SELECT admits_unknown FROM age_rule)))

-- fragment: greatest_min_age(viewer)
-- A bound for an index: no post from a greater age on is one that a viewer sees.
CASE WHEN {viewer}::text IS NULL THEN 120 WHEN {viewer}::text = '' THEN 0 ELSE coalesce(
  (SELECT extract(year FROM age(current_date, birth_date))::int + 1 FROM app_user WHERE app_user.id = {viewer}::text),
  (SELECT CASE WHEN admits_unknown THEN 120 ELSE 0 END FROM age_rule)) END

-- fragment: unblocked(user, viewer)
-- Whether neither a user has blocked the viewer nor the viewer that user: what each of them made is hidden from the other.
--
-- A scalar subquery is a probe of the index for each row. Of EXISTS the planner may make a hash of all that the viewer has,
-- which for a user with many friends costs more than the whole list.
(SELECT true FROM relation
  WHERE relation.user_id = {viewer}::text AND relation.target = {user} AND relation.kind IN ('block', 'blocked')
  LIMIT 1) IS NULL

-- fragment: is_public(post)
-- Whether everybody may see a post.
({post}.visibility = 'public' AND {post}.min_age IS NULL AND {post}.moderation IS NULL AND {post}.status IN ('ready', 'processing'))

-- fragment: public_image(image)
-- Whether everybody may see an image: one that belongs to no post, or to a public one, and that no moderator has hidden.
-- That of a collection is not: a collection has viewers.
(NOT {image}.is_hidden AND coalesce((SELECT {is_public(post)} FROM post WHERE post.id = {image}.post_id), true)
  AND NOT EXISTS (SELECT FROM collection WHERE {pictures({image}, collection)}))

-- fragment: pictures(image, collection)
-- Whether an image is the thumbnail of a collection. An itinerary that is the app's own has an id of another form, and no row.
({collection}.public_id = CASE WHEN {image}.kind = 'itinerary' AND {image}.owner ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
  THEN {image}.owner::uuid END)

-- fragment: sees_pictured(image, viewer)
-- Whether a viewer sees the collection of a thumbnail. With a secret link it is open to who has the link, of which a URL says nothing.
NOT EXISTS (
  SELECT FROM collection WHERE {pictures({image}, collection)} AND {viewer}::text IS NOT NULL AND collection.author <> {viewer}::text
    AND (collection.is_hidden OR NOT {unblocked(collection.author, {viewer})}
      OR NOT (collection.link IS NOT NULL AND {viewer}::text <> '' OR collection.visibility = 'public' AND {viewer}::text <> ''
        OR EXISTS (
          SELECT FROM collection_member AS member WHERE member.collection_id = collection.id AND member.user_id = {viewer}::text)
        OR collection.visibility = 'friends' AND EXISTS (
          SELECT FROM relation
          WHERE relation.user_id = {viewer}::text AND relation.target = collection.author AND relation.kind = 'friend'))))

-- fragment: profile_image(user)
-- The set of the current profile image of a user.
(SELECT image.asset_set_id FROM image
   WHERE image.kind = 'profile' AND image.owner = {user}.id AND image.asset_set_id IS NOT NULL AND NOT image.is_hidden
   ORDER BY image.id DESC LIMIT 1)

-- fragment: maker(image)
-- The user whose image it is.
CASE {image}.kind WHEN 'profile' THEN {image}.owner ELSE {image}.author END

-- fragment: shown_image(image, viewer)
-- Whether a viewer who sees what an image is of sees the image. One that a moderator has hidden is for its author alone.
({unblocked({maker({image})}, {viewer})}
  AND (NOT {image}.is_hidden OR {viewer}::text IS NULL OR {maker({image})} = {viewer}::text) AND {sees_pictured({image}, {viewer})})

-- fragment: post_columns
id, public_id, status, created_at, updated_at, reasons, job, look, asset_set_id, source_set_id, comment_count, reaction_count, like_count,
  window_state, late_seconds, offset_seconds, {draft_columns}

-- fragment: image_columns
image.id, image.public_id, image.kind, image.owner, image.author, image.alternative_text, image.status, image.created_at, image.reasons,
  image.job, image.asset_set_id, image.source_set_id, {public_image(image)} AS is_public

-- fragment: shown(comment, viewer)
-- Whether a viewer who sees what a comment is on sees the comment. One that a moderator has hidden is for its author alone.
({unblocked({comment}.author, {viewer})}
  AND (NOT {comment}.is_hidden OR {viewer}::text IS NULL OR {comment}.author = {viewer}::text))

-- fragment: asset_columns
asset.public_id, asset.role, asset.place, asset.blob, asset.type, asset.bytes, asset.width, asset.height, asset.duration,
  asset.thumbhash, asset.color, asset.loudness

-- fragment: knows(user, viewer)
-- Whether a viewer may know of a user: a user who has blocked the viewer is not there.
(SELECT true FROM relation
  WHERE relation.user_id = {viewer}::text AND relation.target = {user} AND relation.kind = 'blocked') IS NULL

-- fragment: is_blocked(user, actor)
-- Whether a user has blocked the one who caused something, or is blocked by that user.
EXISTS (
  SELECT FROM relation
  WHERE relation.user_id = {user} AND relation.target = {actor} AND relation.kind IN ('block', 'blocked'))
