-- Whether a request has come with the token. Until then the response that brought it may be lost. One of a program that does not know the
-- column counts as used.
ALTER TABLE access_token ADD COLUMN is_used boolean NOT NULL DEFAULT true;
