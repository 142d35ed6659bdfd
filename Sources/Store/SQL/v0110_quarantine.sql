-- Media whose decoding ended a media process by itself. `inputs` is the hash of the file that the process was given, or
-- of the hashes of both clips. The facts are those of the last crash; rows of earlier versions have none.
ALTER TABLE media_crash
  ADD COLUMN kind text CHECK (kind IN ('moment', 'clip', 'photo')),
  -- The code of the reason.
  ADD COLUMN code text,
  -- The request at which the process ended.
  ADD COLUMN stage text,
  -- NULL: it ended at its limit of memory or time without one.
  ADD COLUMN signal text,
  ADD COLUMN limits jsonb,
  ADD COLUMN definition bytea REFERENCES definition,
  -- The camera in the inset of a moment.
  ADD COLUMN foreground text CHECK (foreground IN ('front', 'back')),
  -- Of take5.
  ADD COLUMN version text,
  ADD COLUMN first_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- NULL: the inputs are not quarantined.
  ADD COLUMN quarantined_at timestamptz;
UPDATE media_crash SET first_at = last_at;

-- The blobs of quarantined inputs, which stay until the inputs are released.
CREATE TABLE quarantined_input (
  inputs bytea NOT NULL REFERENCES media_crash ON DELETE CASCADE,
  role text NOT NULL,
  blob bytea NOT NULL REFERENCES blob,
  PRIMARY KEY (inputs, role)
);
CREATE INDEX quarantined_input_blob ON quarantined_input (blob);
