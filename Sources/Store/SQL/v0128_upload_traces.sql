-- The traceparent of the request that submitted a post which awaits uploads, for its job. Additive.
ALTER TABLE awaited_upload ADD COLUMN trace text;
