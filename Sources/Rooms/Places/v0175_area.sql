-- Whether a place is hidden is read from the index, as what lists sort by: of a strong city no row is read but those of the page.
DROP INDEX place_area;
CREATE INDEX place_area ON place USING gist (position) INCLUDE (post_count, favourite_count, save_count, number, is_hidden)
  WHERE is_known;
