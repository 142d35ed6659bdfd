-- The deleted users of whom no upload can exist any more are the oldest. It is built under a SHARE lock, during which no deletion of a user
-- ends; the rows are those of a month.
CREATE INDEX forgotten_user_time ON forgotten_user (forgotten_at);
