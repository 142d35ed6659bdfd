-- The deletion of a user finds the responses that name the user by an index. It is built under a SHARE lock, for about 20 seconds for a
-- million responses, during which submissions with an Idempotency-Key wait; the responses are those of a day.

-- The users whom a response names: the owner of the key after a slash, and what the encoder writes for an author and an owner. The
-- bytes of the body are compared in the form of encode(), which fails for no body.
CREATE FUNCTION answer_users(tenant text, body bytea) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ARRAY(
    SELECT substr(tenant, strpos(tenant, '/')) WHERE strpos(tenant, '/') > 0
    UNION
    SELECT found[1]
    FROM regexp_matches(
      encode(body, 'escape'), '("(?:author|owner)":"(?:[^"\\]|\\[0-7]{3}|\\\\(?:\\\\|[^\\]))*")', 'g') AS found)
$$;
CREATE INDEX idempotent_answer_users ON idempotent_answer USING gin (answer_users(tenant, body)) WITH (fastupdate = off);
