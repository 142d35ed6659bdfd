-- How often content was removed, by the first two bytes of its hash. Who publishes content reads the count before, without a transaction,
-- and again in the transaction that refers to the content, after it has locked the row of the blob: if it has changed, the content may have
-- been removed in between, and is published again. A collector counts while it holds the row. The number of rows is limited.
CREATE TABLE removal_count (
  slot integer PRIMARY KEY,
  removals bigint NOT NULL
);

CREATE FUNCTION count_removal() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  removed bytea;
BEGIN
  IF TG_OP = 'DELETE' THEN removed := OLD.hash; ELSE removed := NEW.hash; END IF;
  INSERT INTO removal_count (slot, removals) VALUES (get_byte(removed, 0) * 256 + get_byte(removed, 1), 1)
  ON CONFLICT (slot) DO UPDATE SET removals = removal_count.removals + 1;
  RETURN NULL;
END $$;
-- The row is deleted in the transaction that decides the removal, also by a process of an older version, which removes the content before
-- it commits.
CREATE TRIGGER removal_count AFTER DELETE ON blob FOR EACH ROW EXECUTE FUNCTION count_removal();
-- The row of content that is removed because it is damaged stays.
CREATE TRIGGER removal_count AFTER INSERT ON blob_removal FOR EACH ROW EXECUTE FUNCTION count_removal();
