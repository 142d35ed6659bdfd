-- At once: a registration that waited for one of them while it held the other would end the migration.
LOCK TABLE push_delivery, device IN ACCESS EXCLUSIVE MODE;
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
-- has_waited: whether it was put off: those of one post that were are one notification. acts: how many it stands for since; NULL: those of its
-- event.
ALTER TABLE push_delivery ADD COLUMN has_waited boolean NOT NULL DEFAULT false, ADD COLUMN acts int;
