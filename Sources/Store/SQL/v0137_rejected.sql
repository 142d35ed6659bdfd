-- The sources of rejected media are kept for a while: a later version may judge them otherwise. NULL: they were not rejected.
ALTER TABLE asset_set ADD COLUMN rejected_at timestamptz;
CREATE INDEX asset_set_rejected ON asset_set (rejected_at) WHERE rejected_at IS NOT NULL;
