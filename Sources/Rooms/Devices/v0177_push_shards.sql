-- Each provider has shards of its own, and so have the push services of the makers of browsers.
UPDATE device SET shard = CASE
    WHEN provider = 'fcm' THEN 8 + shard
    WHEN address ~ '^https://fcm\.googleapis\.com[/?]' THEN 12
    WHEN address ~ '^https://updates\.push\.services\.mozilla\.com[/?]' THEN 13
    WHEN address ~ '^https://web\.push\.apple\.com[/?]' THEN 14
    ELSE 15 END
WHERE provider <> 'apns' AND shard < 4;
CREATE INDEX device_shard ON device (shard, id);

-- What the service says to everybody, which each shard passes on in pages.
CREATE TABLE push_broadcast (
  shard smallint NOT NULL,
  -- Of the event.
  position bigint NOT NULL,
  expires_at timestamptz NOT NULL,
  -- The devices with greater ids have not been reached, up to the last one that was registered then.
  after bigint NOT NULL DEFAULT 0,
  last bigint NOT NULL,
  PRIMARY KEY (shard, position)
);

-- environment: where a token of Apple's is valid; NULL: where the credentials say. is_data: whether the app on Android shows what it gets.
-- silent_kinds: what the app learns of and does not show.
ALTER TABLE device ADD COLUMN environment text CHECK (environment IN ('production', 'development')),
  ADD COLUMN is_data boolean NOT NULL DEFAULT false, ADD COLUMN silent_kinds text[] NOT NULL DEFAULT '{}';
-- Whether it was put off: those of one post that were are one notification.
ALTER TABLE push_delivery ADD COLUMN has_waited boolean NOT NULL DEFAULT false;
