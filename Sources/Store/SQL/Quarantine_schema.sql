-- How often the media process broke on the same inputs, whatever post they came with, and media whose decoding ended it by itself.
CREATE TABLE media_crash (
  -- The hash of the file that the process was given, or of the hashes of both clips.
  inputs bytea PRIMARY KEY,
  crashes int NOT NULL,
  -- The facts are those of the last crash; rows of earlier versions lack those from `kind` on.
  last_error text NOT NULL,
  last_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  kind text CHECK (kind IN ('moment', 'clip', 'photo')),
  -- The code of the reason.
  code text,
  -- The request at which the process ended.
  stage text,
  -- NULL: it ended at its limit of memory or time without one.
  signal text,
  limits jsonb,
  definition bytea REFERENCES definition,
  -- The camera in the inset of a moment.
  foreground text CHECK (foreground IN ('front', 'back')),
  -- Of take5.
  version text,
  first_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- NULL: the inputs are not quarantined.
  quarantined_at timestamptz
);

-- The blobs of quarantined inputs, which stay until the inputs are released.
CREATE TABLE quarantined_input (
  inputs bytea NOT NULL REFERENCES media_crash ON DELETE CASCADE,
  role text NOT NULL,
  blob bytea NOT NULL REFERENCES blob,
  PRIMARY KEY (inputs, role)
);
CREATE INDEX quarantined_input_blob ON quarantined_input (blob);
