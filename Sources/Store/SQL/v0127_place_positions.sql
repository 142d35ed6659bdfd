-- Places in a small area are found by their positions: a cell of the map may have many more than the area has.
CREATE INDEX place_position ON place USING gist (position) WHERE is_known;
-- The column stays: the version before this one reads it.
DROP INDEX place_map_cell;
