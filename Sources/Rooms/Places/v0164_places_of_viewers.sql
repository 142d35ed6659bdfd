-- Who reads a place is asked for friends there, and not everybody there for the reader: these indexes have a row for each step.

-- The posts for friends of one user at one place, the newest first.
CREATE INDEX post_place_friends ON post (place_id, author, created_at DESC, id DESC)
  WHERE place_id IS NOT NULL AND visibility = 'friends' AND status = 'ready';
-- The pictures that everybody may see, without those between them.
CREATE INDEX post_place_public ON post (place_id, created_at DESC, id DESC)
  WHERE place_id IS NOT NULL AND asset_set_id IS NOT NULL AND visibility = 'public' AND status = 'ready';

-- The friends of a user in the order of their ids, without what else the user has.
CREATE INDEX relation_friend ON relation (user_id, target) WHERE kind = 'friend';

-- What posts for friends say of a place, the most complete first.
CREATE INDEX place_friend_first ON place_friend (place_id, (latitude IS NULL), (name IS NULL), user_id);
