-- Places in a small area are found by their positions: a cell of the map may have many more than the area has. The index has what
-- lists are ordered by, so that of many places only those of the page are read.
CREATE INDEX place_position ON place USING gist (position) INCLUDE (post_count, save_count, number) WHERE is_known;
-- The column stays: the version before this one reads it.
DROP INDEX place_map_cell;
