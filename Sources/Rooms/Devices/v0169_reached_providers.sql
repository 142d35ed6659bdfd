-- When a provider last accepted a notification, to the minute. NULL: it has not yet.
ALTER TABLE push_provider ADD COLUMN reached_at timestamptz;
