-- What definitions of fields say of posts and of users.
ALTER TABLE post ADD COLUMN fields jsonb NOT NULL DEFAULT '{}',
  -- The age from which on users whose birth date is known see it.
  ADD COLUMN min_age smallint CHECK (min_age BETWEEN 1 AND 120);
ALTER TABLE app_user ADD COLUMN fields jsonb NOT NULL DEFAULT '{}';

-- For lists of those with a field of a value.
CREATE INDEX app_user_fields ON app_user USING gin (fields jsonb_path_ops) WHERE fields <> '{}';
CREATE INDEX post_fields ON post USING gin (fields jsonb_path_ops) WHERE fields <> '{}';

CREATE TRIGGER post_fields_changed BEFORE UPDATE ON post FOR EACH ROW
  WHEN ((OLD.fields, OLD.min_age) IS DISTINCT FROM (NEW.fields, NEW.min_age)) EXECUTE FUNCTION post_changed();
