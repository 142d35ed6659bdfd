-- Whether a request has come with the token. Until then the response that brought it may be lost.
ALTER TABLE access_token ADD COLUMN is_used boolean NOT NULL DEFAULT false;
UPDATE access_token SET is_used = true;
