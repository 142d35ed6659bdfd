ALTER TABLE post ADD COLUMN mood text;
