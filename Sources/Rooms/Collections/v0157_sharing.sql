-- Collections that others than their members see.
ALTER TABLE collection
  -- Who sees it without being a member.
  ADD COLUMN visibility text NOT NULL DEFAULT 'private' CHECK (visibility IN ('public', 'friends', 'private'));
-- Those on the profile of their author.
CREATE INDEX collection_open ON collection (author, created_at DESC, id DESC) WHERE visibility <> 'private';
