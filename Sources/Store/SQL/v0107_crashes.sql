-- Nothing that was counted so far tells media that broke a process from those whose process was killed: all begin anew.
UPDATE media_crash SET crashes = 0;
