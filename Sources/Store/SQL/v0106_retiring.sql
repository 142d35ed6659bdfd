-- When a secret that no longer signs ceases to admit; the one that signs has no such time.
ALTER TABLE signing_key ADD COLUMN retires_at timestamptz;
-- Those before the newest were kept by a rotation: the URLs that they signed are good for a day and an hour.
UPDATE signing_key SET retires_at = clock_timestamp() + interval '25 hours'
WHERE id < (SELECT max(id) FROM signing_key);
