-- The place in the order that a user gives the relations of a kind, from 1; NULL: none yet, which comes first, the newest before others.
ALTER TABLE relation ADD COLUMN position int CHECK (position BETWEEN 1 AND 1000);
CREATE INDEX relation_order ON relation (user_id, coalesce(1000000 - position, 1000000 + id) DESC, id DESC) WHERE kind = 'favourite';

-- When the author last changed the text.
ALTER TABLE comment ADD COLUMN edited_at timestamptz;
