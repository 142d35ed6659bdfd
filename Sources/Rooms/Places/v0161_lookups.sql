-- What lists name is found by a hash: one page of the index for each id, where a btree of many rows has three.
CREATE INDEX app_user_hash ON app_user USING hash (id);
CREATE INDEX place_hash ON place USING hash (id);
CREATE INDEX image_profile ON image USING hash (owner) WHERE kind = 'profile' AND asset_set_id IS NOT NULL;
