-- Requests for codes by who has no password: the same row for a name that a user has and for one that no user has, so that the time of the
-- response tells nothing. A maintenance task makes the codes.
CREATE TABLE code_request (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- A user name, or an address.
  name text NOT NULL,
  is_email boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- When mails with codes were asked for, in the last day, by the SHA-256 of the folded address: whoever asks, it is one mailbox.
CREATE TABLE mail_count (
  address bytea PRIMARY KEY CHECK (length(address) = 32),
  asked_at timestamptz[] NOT NULL DEFAULT '{}'
);

-- Codes that were tried for names without one, so that each try writes a row. Each try has one slot by chance: none waits for others.
CREATE TABLE code_miss (
  slot smallint PRIMARY KEY,
  tries bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20);
INSERT INTO code_miss (slot) SELECT generate_series(0, 63);
