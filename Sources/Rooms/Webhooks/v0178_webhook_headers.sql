-- headers: the header fields of the operator's that each message has, by name; the values may be secrets.
-- deleted_at: the endpoint is gone for all who read it, and is disabled; its messages are deleted in pages, and the row after them.
ALTER TABLE webhook ADD COLUMN headers jsonb NOT NULL DEFAULT '{}', ADD COLUMN deleted_at timestamptz,
  ADD CHECK (deleted_at IS NULL OR disabled_at IS NOT NULL);
