-- The daily window: one row for each time that it opened.
CREATE TABLE daily_window (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- That opened it: no job does so twice.
  job uuid NOT NULL UNIQUE,
  opened_at timestamptz NOT NULL,
  closes_at timestamptz NOT NULL CHECK (closes_at > opened_at)
);
CREATE INDEX daily_window_latest ON daily_window (opened_at);
