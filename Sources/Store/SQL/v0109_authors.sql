-- One's own photos of a place, and one's own reactions to a post, however many others have theirs there.
CREATE INDEX image_author ON image (kind, owner, author, id DESC) WHERE asset_set_id IS NOT NULL AND author IS NOT NULL;
