#include "console.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

// Copied by the compiler (C23, 6.10.4). Each file of the folder `web` has its lines here; a test compares the table with the folder.
static const struct console_file files[] = {
  {"alerts.js", (const char[]){
#embed "web/alerts.js" suffix(, 0)
  }},
  {"app.js", (const char[]){
#embed "web/app.js" suffix(, 0)
  }},
  {"attempts.js", (const char[]){
#embed "web/attempts.js" suffix(, 0)
  }},
  {"basemap.js", (const char[]){
#embed "web/basemap.js" suffix(, 0)
  }},
  {"boxes.js", (const char[]){
#embed "web/boxes.js" suffix(, 0)
  }},
  {"bytes.js", (const char[]){
#embed "web/bytes.js" suffix(, 0)
  }},
  {"calendar.js", (const char[]){
#embed "web/calendar.js" suffix(, 0)
  }},
  {"case.js", (const char[]){
#embed "web/case.js" suffix(, 0)
  }},
  {"charts.js", (const char[]){
#embed "web/charts.js" suffix(, 0)
  }},
  {"client.js", (const char[]){
#embed "web/client.js" suffix(, 0)
  }},
  {"clusters.js", (const char[]){
#embed "web/clusters.js" suffix(, 0)
  }},
  {"colour.js", (const char[]){
#embed "web/colour.js" suffix(, 0)
  }},
  {"composition.js", (const char[]){
#embed "web/composition.js" suffix(, 0)
  }},
  {"console.css", (const char[]){
#embed "web/console.css" suffix(, 0)
  }},
  {"console.html", (const char[]){
#embed "web/console.html" suffix(, 0)
  }},
  {"deck.js", (const char[]){
#embed "web/deck.js" suffix(, 0)
  }},
  {"definition.js", (const char[]){
#embed "web/definition.js" suffix(, 0)
  }},
  {"feed.js", (const char[]){
#embed "web/feed.js" suffix(, 0)
  }},
  {"film.css", (const char[]){
#embed "web/film.css" suffix(, 0)
  }},
  {"film.html", (const char[]){
#embed "web/film.html" suffix(, 0)
  }},
  {"film.js", (const char[]){
#embed "web/film.js" suffix(, 0)
  }},
  {"filmclips.js", (const char[]){
#embed "web/filmclips.js" suffix(, 0)
  }},
  {"filmpage.js", (const char[]){
#embed "web/filmpage.js" suffix(, 0)
  }},
  {"filmplayer.js", (const char[]){
#embed "web/filmplayer.js" suffix(, 0)
  }},
  {"frames.js", (const char[]){
#embed "web/frames.js" suffix(, 0)
  }},
  {"glance.js", (const char[]){
#embed "web/glance.js" suffix(, 0)
  }},
  {"icon.svg", (const char[]){
#embed "web/icon.svg" suffix(, 0)
  }},
  {"inset.js", (const char[]){
#embed "web/inset.js" suffix(, 0)
  }},
  {"job.js", (const char[]){
#embed "web/job.js" suffix(, 0)
  }},
  {"jobchanges.js", (const char[]){
#embed "web/jobchanges.js" suffix(, 0)
  }},
  {"jobfilter.js", (const char[]){
#embed "web/jobfilter.js" suffix(, 0)
  }},
  {"jobs.js", (const char[]){
#embed "web/jobs.js" suffix(, 0)
  }},
  {"longlist.js", (const char[]){
#embed "web/longlist.js" suffix(, 0)
  }},
  {"map.js", (const char[]){
#embed "web/map.js" suffix(, 0)
  }},
  {"mapcard.js", (const char[]){
#embed "web/mapcard.js" suffix(, 0)
  }},
  {"mapfilter.js", (const char[]){
#embed "web/mapfilter.js" suffix(, 0)
  }},
  {"mercator.js", (const char[]){
#embed "web/mercator.js" suffix(, 0)
  }},
  {"metrics.js", (const char[]){
#embed "web/metrics.js" suffix(, 0)
  }},
  {"moments.js", (const char[]){
#embed "web/moments.js" suffix(, 0)
  }},
  {"now.js", (const char[]){
#embed "web/now.js" suffix(, 0)
  }},
  {"nowlists.js", (const char[]){
#embed "web/nowlists.js" suffix(, 0)
  }},
  {"painter.js", (const char[]){
#embed "web/painter.js" suffix(, 0)
  }},
  {"parts.js", (const char[]){
#embed "web/parts.js" suffix(, 0)
  }},
  {"people.js", (const char[]){
#embed "web/people.js" suffix(, 0)
  }},
  {"photos.js", (const char[]){
#embed "web/photos.js" suffix(, 0)
  }},
  {"picture.js", (const char[]){
#embed "web/picture.js" suffix(, 0)
  }},
  {"player.js", (const char[]){
#embed "web/player.js" suffix(, 0)
  }},
  {"post.js", (const char[]){
#embed "web/post.js" suffix(, 0)
  }},
  {"privacy.js", (const char[]){
#embed "web/privacy.js" suffix(, 0)
  }},
  {"quarantine.js", (const char[]){
#embed "web/quarantine.js" suffix(, 0)
  }},
  {"record.js", (const char[]){
#embed "web/record.js" suffix(, 0)
  }},
  {"region.js", (const char[]){
#embed "web/region.js" suffix(, 0)
  }},
  {"run.js", (const char[]){
#embed "web/run.js" suffix(, 0)
  }},
  {"schedule.js", (const char[]){
#embed "web/schedule.js" suffix(, 0)
  }},
  {"sources.js", (const char[]){
#embed "web/sources.js" suffix(, 0)
  }},
  {"store.js", (const char[]){
#embed "web/store.js" suffix(, 0)
  }},
  {"submission.js", (const char[]){
#embed "web/submission.js" suffix(, 0)
  }},
  {"submit.js", (const char[]){
#embed "web/submit.js" suffix(, 0)
  }},
  {"timeline.js", (const char[]){
#embed "web/timeline.js" suffix(, 0)
  }},
  {"ui.js", (const char[]){
#embed "web/ui.js" suffix(, 0)
  }},
  {"user.js", (const char[]){
#embed "web/user.js" suffix(, 0)
  }},
  {"verdict.js", (const char[]){
#embed "web/verdict.js" suffix(, 0)
  }},
  {"watch.js", (const char[]){
#embed "web/watch.js" suffix(, 0)
  }},
  {"waveform.js", (const char[]){
#embed "web/waveform.js" suffix(, 0)
  }},
  {"webhook.js", (const char[]){
#embed "web/webhook.js" suffix(, 0)
  }},
  {"world.js", (const char[]){
#embed "web/world.js" suffix(, 0)
  }},
};

const struct console_file *console_files(size_t *count) {
  *count = sizeof files / sizeof *files;
  return files;
}
