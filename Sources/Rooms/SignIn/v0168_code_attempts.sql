-- How often each address has tried a code: who guesses closes it for that address alone. Of IPv6 an address is a /64.
ALTER TABLE one_time_code ADD COLUMN attempts_by_address jsonb NOT NULL DEFAULT '{}';
-- Another code has all attempts, also where an earlier version makes it.
CREATE FUNCTION renew_code_attempts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.attempts_by_address := '{}';
  RETURN NEW;
END $$;
CREATE TRIGGER one_time_code_replaced BEFORE UPDATE OF hash ON one_time_code FOR EACH ROW EXECUTE FUNCTION renew_code_attempts();
-- When a code replaced one that had no attempts left, in the last day. The row of an expired code stays as long.
ALTER TABLE one_time_code ADD COLUMN replaced_at timestamptz[] NOT NULL DEFAULT '{}';
