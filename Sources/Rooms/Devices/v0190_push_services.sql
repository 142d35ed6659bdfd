-- Which push services there are, and which environments they have, is the list of the program: a new one needs no migration. The rows that
-- are there have passed stricter rules.
ALTER TABLE device DROP CONSTRAINT device_provider_check, DROP CONSTRAINT device_check, DROP CONSTRAINT device_environment_check,
  ADD CONSTRAINT device_provider_check CHECK (provider ~ '^[a-z_]+$') NOT VALID,
  ADD CONSTRAINT device_environment_check CHECK (environment ~ '^[a-z_]+$') NOT VALID,
  -- Both keys of a subscription, or none.
  ADD CONSTRAINT device_keys_check CHECK ((p256dh IS NULL) = (auth IS NULL)) NOT VALID;
