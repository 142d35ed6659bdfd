-- The integrated loudness of a video's sound, in LUFS. Older assets, images and silent videos have none.
ALTER TABLE asset ADD COLUMN loudness double precision;
