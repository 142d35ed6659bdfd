-- The offset from UTC that the zone of the schedule had when the window last opened or the schedule was set: it counts while the server does
-- not know the zone. NULL: none was noted, or the zone was not known then either.
ALTER TABLE window_schedule ADD COLUMN utc_offset interval;
