-- The posts near a point are read in the order of their distances from it, so that of many posts only those of the page are read.
CREATE INDEX post_position ON post USING gist (position) WHERE position IS NOT NULL;
