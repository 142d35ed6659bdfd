-- User names are told apart by one rule, that of Profile.folded(userName:): ASCII letters without regard to case, whatever the locale of
-- the database. lower() of a Turkish one makes another letter of an I, so that two users may have one name by this rule.
UPDATE app_user SET user_name = left(user_name, 21) || '-' || left(md5(id), 8)
WHERE EXISTS (
  SELECT FROM app_user AS older
  WHERE lower(older.user_name COLLATE "C") = lower(app_user.user_name COLLATE "C")
    AND (older.created_at, older.id) < (app_user.created_at, app_user.id));
-- Names are found by their beginning in it as well. The indexes of the other rule stay: the version before this one reads them.
CREATE UNIQUE INDEX app_user_folded_user_name ON app_user (lower(user_name COLLATE "C")) WHERE user_name IS NOT NULL;
