-- What images show, in words.
ALTER TABLE image ADD COLUMN alternative_text text;
