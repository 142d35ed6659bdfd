#!/bin/bash
# run.sh PROGRAMS [NEXT]: tests the Debian package that 'make package' has built of the programs in the folder PROGRAMS, and the package
# of those in the folder NEXT, which have the next version, in bare Debians with systemd; without NEXT, all but the upgrade. Needs root.
#
# The first day of an operator, an upgrade and the way back, and the end. The commands of README.md, docs/deploying.md,
# docs/backup.md and docs/operations.md run as they stand there; the test fails if a section of docs/deploying.md with commands has not run.
set -euo pipefail
checkout=$(cd "$(dirname "$0")/../.." && pwd)
cd "$checkout"
programs=$1
next_programs=${2:-}
# shellcheck source=Tests/Packaging/machine.sh
. Tests/Packaging/machine.sh
[ "$(id -u)" = 0 ] || { echo "run.sh: a machine in namespaces needs root" >&2; exit 1; }

mkdir -p .build/packaging
work=$(mktemp -d "$checkout/.build/packaging/run.XXXXXX")
machines=$work/machines
trap finish EXIT

# The lines of the code blocks in a language below a heading of a document, or of the block with a number.
blocks() {
  awk -v heading="$2" -v language="${3:-sh}" -v number="${4:-0}" '
    /^```/ { inside = !inside && found && $0 == "```" language; fenced = !fenced; count += inside; next }
    !fenced && /^#+ / { found = $0 ~ "^#+ " heading "$" }
    inside && (!number || count == number)' "$1"
}
sections_run=
# Runs the commands below a heading, or the block of them with a number, in the machine's folder /root/server.
document() {
  local text
  text=$(blocks "$1" "$2" sh "${3:-0}")
  [ -n "$text" ] || fail "$1 has no commands below '$2'"
  sections_run="$sections_run|$1#$2|"
  inside bash -c "cd /root/server && set -eux && $text" </dev/null || fail "$1, '$2'"
}
# The headings of a document that have commands.
sections() { awk '/^```/ { if ($0 == "```sh" && !fenced) print heading; fenced = !fenced; next } !fenced && /^#+ / { sub(/^#+ /, ""); heading = $0 }' "$1" | uniq; }

query() { inside sudo -u take5 take5 database -- psql --no-psqlrc --tuples-only --no-align --command "$1" </dev/null; }
posts() { query "SELECT count(*) FROM post WHERE status = '$1'"; }
# Waits until no job waits or executes.
drained() {
  for _ in $(seq 300); do
    [ "$(query 'SELECT count(*) FROM job')" != 0 ] || return 0
    sleep 1
  done
  fail "jobs did not end: $(query 'SELECT state, attempt, last_error FROM job')"
}
submit() {
  inside take5 submit post /usr/share/doc/take5/examples/front.mp4 /usr/share/doc/take5/examples/back.mp4 --author bob "$@" </dev/null
}
status() { inside curl --silent --output /dev/null --write-out '%{http_code}' "$@"; }
# The warnings and errors of doctor. A service in order has none: what an administrator cannot change is not a warning.
findings() { inside sudo -u take5 take5 doctor --json </dev/null | jq -r '.results[] | select(.level == "warning" or .level == "error")'; }
# The mean difference of two stills of the machine, from 0 to 255, in the quarters at the top left, the top right, the bottom left and
# the bottom right.
difference() {
  paste <(pixels "$1") <(pixels "$2") | awk '
    { y = int((NR - 1) / 90); x = (NR - 1) % 90; quarter = 2 * (y >= 80) + (x >= 45); sum[quarter] += $1 > $2 ? $1 - $2 : $2 - $1; count[quarter]++ }
    END { if (NR != 90 * 160) exit 1; for (i = 0; i < 4; i++) printf "%s%d", i ? " " : "", sum[i] / count[i]; print "" }'
}
# The grey values of a still of 720x1280, an eighth of it in each direction, one in a line.
pixels() { inside djpeg -grayscale -scale 1/8 -pnm "$1" | tail -c $((90 * 160)) | od -An -v -t u1 -w1; }
deb_of() { echo ".build/package/take5_$1-1_$(dpkg --print-architecture).deb"; }

this=$(Sources/Packaging/version.sh)
next=$(Sources/Packaging/version.sh next)

step "the package of version $this"
deb=$(deb_of "$this")
[ -e "$deb" ] || fail "$deb is missing: 'make package'"
cp "$deb" "$work/first.deb"
mkdir "$work/again"
cmp "$deb" "$(Sources/Packaging/deb.sh "$programs" "$work/again")" || fail "the same programs gave another package"
make --no-print-directory install PROGRAMS="$programs" DESTDIR="$work/local" PREFIX=/usr/local
equal "what 'make install' installs" "$("$work/local/usr/local/bin/take5" version | head -n 1)" "take5 $this"
grep -q '^ExecStart=/usr/local/bin/take5 serve$' "$work/local/usr/local/lib/systemd/system/take5.service" || fail "another PREFIX in the unit"
echo 'slots = 2' >"$work/local/etc/take5/take5.conf"
make --no-print-directory install PROGRAMS="$programs" DESTDIR="$work/local" PREFIX=/usr/local
equal "the configuration after a second 'make install'" "$(cat "$work/local/etc/take5/take5.conf")" 'slots = 2'
echo "$(stat --format %s "$deb") bytes; installed: $(dpkg-deb --field "$deb" Installed-Size) KiB"
lintian --allow-root --fail-on error --show-overrides "$deb"

step "the units"
systemd-analyze security --offline=true --no-pager Sources/Packaging/*.service | grep 'Overall exposure'
systemd-analyze security --offline=true --no-pager --threshold=30 Sources/Packaging/*.service >/dev/null
restrictions() { sed -n '/^# What the service cannot do/,/^$/p' "$1"; }
[ -n "$(restrictions Sources/Packaging/take5.service)" ] || fail "the units have no restrictions"
equal "the restrictions of the worker" "$(restrictions Sources/Packaging/take5-worker@.service)" "$(restrictions Sources/Packaging/take5.service)"

if [ -n "$next_programs" ]; then
  step "the package of version $next"
  next_deb=$(TAKE5_VERSION=$next Sources/Packaging/deb.sh "$next_programs" "$work/next")
fi

step "a bare $release"
base=$checkout/.build/packaging/$release
make_base "$base"
# Makes a machine of a name, with the package and what it will install in reach.
prepare() {
  make_machine "$base" "$1"
  mkdir -p "$root/root/server"
  cp "$deb" "$root/root/server/"
  download "/root/server/$(basename "$deb")" "${@:2}"
}
prepare server nginx openssl libjpeg-turbo-progs
server=$root/root/server
boot
inside bash -c '! compgen -G "/usr/lib/swift*" && ! command -v swift take5' >/dev/null || fail "the machine is not bare"
files() { inside find / -xdev \( -path /root -o -path /tmp -o -path '/var/cache/*' -o -path '/var/log/*' \) -prune -o -print | sort; }
files >"$work/files.before"

step "README.md: from the package to the first composed video"
begin=$SECONDS
document README.md "Install"
echo "$((SECONDS - begin)) s"
equal "commands" "$(blocks README.md Install | grep -cv '^ ')" 3
equal "what doctor finds" "$(findings)" ""
equal "clusters beside the embedded one" "$(inside pg_lsclusters --no-header)" ""
inside take5 inspect /root/server/moment/composed.mp4 >/dev/null || fail "the composed video cannot be decoded"
equal "Swift's libraries" "$(inside find / -xdev -name 'libswift*' -o -xdev -name 'libFoundation*' | wc -l)" 0
for program in /usr/bin/take5 /usr/libexec/take5/take5-media; do
  ! inside ldd "$program" | grep 'not found' || fail "$program lacks a library"
done
# Each function that is bound at its first call exists in a library that is installed (ld.so(8)).
equal "take5 with all functions bound" "$(inside env LD_BIND_NOW=1 LD_PRELOAD='libpq.so.5 libcurl.so.4 libnghttp2.so.14 libssl.so.3 libcrypto.so.3 libcjose.so.0 libargon2.so.1 libzxcvbn.so.0 libarchive.so.13 libqrencode.so.4' \
  /usr/bin/take5 --help | head -n 1 | cut -d : -f 1)" take5
equal "the user of the service" "$(inside ps -o user= -p "$(inside systemctl show -P MainPID take5)")" take5
equal "the rights of the data" "$(inside stat --format '%U %a' /var/lib/take5)" 'take5 700'
inside take5 definition write --to /tmp/definitions >/dev/null
inside diff -r /tmp/definitions /usr/share/take5/definitions || fail "the installed definitions are not those of the program"
inside man -w take5 >/dev/null 2>&1 || inside test -s /usr/share/man/man1/take5.1.gz || fail "the manual page is missing"

step "the walls, as the unit has them and as a shell has them"
walls() { jq -r '.results[] | select(.check == "walls") | "\(.subject) \(.level)"' "$1"; }
inside sudo -u take5 take5 doctor --json --sandbox required >"$work/shell.json" || true
# The installed unit with another command, and folders of its own.
inside sh -c 'sed -e "s|^Type=.*|Type=oneshot|" -e "s|^ExecStart=.*|ExecStart=/usr/bin/take5 doctor --json --sandbox required|" \
  -e "/^Restart/d" -e "s|^RuntimeDirectory=.*|RuntimeDirectory=doctor|" -e "s|^WorkingDirectory=.*|WorkingDirectory=%t/doctor|" \
  -e "/^UMask/a StandardOutput=file:/run/walls.json" -e "/^UMask/a SuccessExitStatus=1" \
  /lib/systemd/system/take5.service >/run/systemd/system/take5-doctor.service; systemctl daemon-reload; systemctl start take5-doctor'
inside cat /run/walls.json >"$work/unit.json"
walls "$work/unit.json"
equal "the number of walls" "$(walls "$work/unit.json" | wc -l)" 13
# A machine in namespaces has no controller of memory to delegate, and no unit delegates anything to a shell.
equal "the walls under the unit" "$(walls "$work/unit.json" | grep -v '^cgroup ')" "$(walls "$work/shell.json" | grep -v '^cgroup ')"
equal "walls that are down" "$(walls "$work/unit.json" | grep -v ' ok$' | grep -cv '^cgroup ')" 0
equal "walls of the service that are down" \
  "$(inside curl -fsS http://127.0.0.1:8080/metrics | grep '^take5_sandbox_wall' | grep -v cgroup | grep -cv ' 1$')" 0
echo "under the unit: $(inside systemd-analyze security --no-pager take5.service | tail -n 1)"

step "docs/deploying.md: the first key, and TLS by nginx in front"
inside ip address add 192.0.2.1/32 dev lo
# Another port, so that the service of the unit goes on.
serve=(take5 serve --listen 192.0.2.1:8081 --slots 0)
equal "a service off loopback without a key" "$(inside sudo -u take5 "${serve[@]}" >/dev/null 2>&1 || echo $?)" 64
document docs/deploying.md "The first key"
key=$(inside cat /root/server/key)
equal "a request without the key" "$(status http://127.0.0.1:8080/v1/posts)" 401
equal "a request with the key" "$(status -H "Authorization: Bearer $key" http://127.0.0.1:8080/v1/posts)" 200
inside systemd-run --quiet --unit off-loopback --uid take5 --service-type notify "${serve[@]}"
equal "off loopback without the key" "$(status http://192.0.2.1:8081/v1/posts)" 401
equal "off loopback with the key" "$(status -H "Authorization: Bearer $key" http://192.0.2.1:8081/v1/posts)" 200
inside systemctl stop off-loopback
blocks docs/deploying.md "TLS" nginx >"$server/take5.nginx"
document docs/deploying.md "TLS"
inside sh -c 'echo 127.0.0.1 take5.example.org >>/etc/hosts'
certificate=/etc/ssl/certs/take5.example.org.pem
secure=(--server https://take5.example.org --cacert "$certificate" --api-key-file /root/server/key)
submit "${secure[@]}" --save /root/server/secure
inside test -s /root/server/secure/composed.mp4 || fail "no video came through nginx"
equal "TLS without a key" "$(status --cacert "$certificate" https://take5.example.org/v1/posts)" 401
equal "the scheme of an upload" "$(inside curl --silent --output /dev/null --write-out '%header{location}' --cacert "$certificate" \
  -H "Authorization: Bearer $key" -H 'Tus-Resumable: 1.0.0' -H 'Upload-Length: 5' --request POST https://take5.example.org/v1/uploads | cut -d / -f 1-3)" \
  https://take5.example.org
equal "the address of the service" "$(inside ss -Htln 'sport = 8080' | awk '{ print $4 }')" 127.0.0.1:8080
equal "what doctor finds behind nginx" "$(findings)" ""

step "docs/deploying.md: another definition"
inside apt-get install --yes -qq libjpeg-turbo-progs >/dev/null
document docs/deploying.md "Change the definition"
drained
submit "${secure[@]}" --save /root/server/changed
# The inset has moved from the top left to the bottom right; the other quarters show the same.
moved() {
  local quarters
  quarters=$(difference /root/server/secure/poster.jpg "$1")
  echo "differences of the quarters: $quarters"
  awk '{ exit !($1 > 10 && $2 < 5 && $3 < 5 && $4 > 10) }' <<<"$quarters" || fail "the inset of $1 has not moved"
}
moved /root/server/changed/poster.jpg
# The first moment through nginx, made again.
first=$(query "SELECT public_id FROM post WHERE author = 'bob' ORDER BY id LIMIT 1")
poster=$(inside curl --silent --fail-with-body -H "Authorization: Bearer $key" "http://127.0.0.1:8080/v1/posts/$first" | jq -r .assets.poster.url)
inside curl --silent --fail-with-body -H "Authorization: Bearer $key" --output /root/server/reprocessed.jpg "http://127.0.0.1:8080${poster#http://127.0.0.1:8080}"
moved /root/server/reprocessed.jpg

step "docs/backup.md: a backup, and the same service on another machine"
all_posts() { query "SELECT string_agg(public_id || ' ' || status, ',' ORDER BY id) FROM post"; }
before=$(all_posts)
document docs/backup.md "On a server" 1
prepare restored nginx openssl
boot
inside sh -c 'apt-get install --yes -qq /root/server/take5_*.deb' >/dev/null 2>&1
# As scp would copy them.
mkdir -p "$root/var/backups"
cp -a "$machines/server/root/var/backups/take5" "$root/var/backups/"
cp "$server/key" "$root/root/server/key"
inside chown -R take5: /var/backups/take5
document docs/backup.md "On a server" 2
equal "the posts of the restored service" "$(all_posts)" "$before"
equal "the restored service without the key" "$(status http://127.0.0.1:8080/v1/posts)" 401
submit --api-key-file /root/server/key --save /root/server/moment >/dev/null
inside sudo -u take5 take5 verify --deep

step "docs/deploying.md: a database of one's own on the same machine, after the first key and TLS"
cp "$server/take5.nginx" "$root/root/server/"
document docs/deploying.md "TLS"
inside sh -c 'echo 127.0.0.1 db.example.org >>/etc/hosts'
before=$(all_posts)
document docs/deploying.md "A database of your own" 1
document docs/deploying.md "A database of your own" 2
document docs/deploying.md "A database of your own" 3
equal "the posts in the database of one's own" "$(all_posts)" "$before"
equal "servers of PostgreSQL of the user take5" "$(inside pgrep -c -u take5 postgres || true)" 0
equal "the connections with TLS" "$(query 'SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = current_user')" t
equal "a request without the key of the former database" "$(status http://127.0.0.1:8080/v1/posts)" 401
submit --api-key-file /root/server/key --save /root/server/own >/dev/null
# Root's home has what libpq looks for, where the user take5 may not look.
document docs/backup.md "On a server" 1
inside sudo -u take5 take5 verify
inside systemctl stop take5
inside sudo -u take5 take5 doctor | grep 'take5.service is enabled, and no process listens' || fail "doctor does not say that the service does not run"

step "docs/operations.md: a service that does not start"
inside sh -c 'echo "slots = many" >>/etc/take5/take5.conf'
! inside systemctl start take5 2>/dev/null || fail "a service with a wrong configuration has started"
equal "the status of a wrong configuration" "$(inside systemctl show -P ExecMainStatus take5)" 78
inside journalctl --unit take5 --no-pager --output cat | grep -q '^take5: /etc/take5/take5.conf:.*slots' || fail "the journal does not name the line"
inside sh -c "sed -i '/^slots = many/d' /etc/take5/take5.conf; systemctl start take5"
document docs/operations.md "The service does not start"
end_machine restored

step "docs/deploying.md: a database of one's own, and a worker on another machine"
mkdir "$work/shared"
prepare database postgresql
boot "$work/shared"
prepare worker
boot "$work/shared"
connect database worker
for name in database worker; do
  on "$name"
  inside adduser --quiet --system --group --uid 870 take5
  inside sh -c 'echo 10.0.0.1 db.example.org >>/etc/hosts'
done
on database
inside apt-get install --yes -qq postgresql >/dev/null 2>&1
inside sh -c 'apt-get install --yes -qq --no-install-recommends /root/server/take5_*.deb' >/dev/null 2>&1
document docs/deploying.md "A database of your own" 2
document docs/deploying.md "A database of your own" 3
inside sh -c 'echo "slots = 0" >>/etc/take5/take5.conf; systemctl restart take5'
on worker
document docs/deploying.md "Workers on other machines"
equal "servers of PostgreSQL on the machine of the worker" "$(inside pgrep -c postgres || true)" 0
on database
submit --save /root/server/moment >/dev/null
equal "the machine that has made the moment" "$(query "SELECT DISTINCT host FROM job_done JOIN worker ON worker.id = worker_id")" worker
equal "the cluster of the system, which stays" "$(inside pg_lsclusters --no-header | awk '{ print $1, $2, $4 }')" "15 main online"
inside sudo -u take5 take5 verify
end_machine worker
end_machine database

step "docs/deploying.md: a user who leaves"
on server
equal "the posts of the user before" "$(query "SELECT count(*) FROM post WHERE author = 'ada'")" 1
document docs/deploying.md "Export and delete a user"
equal "the beginning of the archive" "$(inside head -c 2 /root/server/ada.zip)" PK
drained
equal "the posts of the user afterwards" "$(query "SELECT count(*) FROM post WHERE author = 'ada'")" 0
equal "ready posts of others" "$(posts ready)" 2

[ -n "$next_programs" ] || { printf '\npassed without an upgrade in %s s\n' "$SECONDS"; exit 0; }

step "docs/deploying.md: workers, and an upgrade with jobs in flight"
document docs/deploying.md "Workers"
inside systemctl is-active take5-worker@1 >/dev/null
# A worker of this version that the upgrade does not restart: on another machine it would not know of it.
inside sh -c 'mkdir -p /opt/old/bin /opt/old/libexec/take5 && cp /usr/bin/take5 /opt/old/bin && cp /usr/libexec/take5/take5-media /opt/old/libexec/take5'
inside systemd-run --quiet --unit old-worker --uid take5 /opt/old/bin/take5 worker
for _ in 1 2 3 4 5 6 7 8; do submit "${secure[@]}" >/dev/null; done
for _ in $(seq 100); do
  [ "$(query "SELECT count(*) FROM job WHERE state = 'x'")" -lt 2 ] || break
  sleep 0.1
done
executing=$(query "SELECT count(*) FROM job WHERE state = 'x'")
[ "$executing" -ge 2 ] || fail "no jobs are in flight: $executing"
echo "$executing jobs execute, $(query "SELECT count(*) FROM job WHERE state = 'a'") wait"
rm "$server"/*.deb
cp "$next_deb" "$server/"
document docs/deploying.md "Upgrade"
equal "the version" "$(inside take5 version | head -n 1)" "take5 $next"
running() { inside sh -c "/proc/\$(systemctl show -P MainPID $1)/exe version" | head -n 1; }
equal "the version of the service" "$(running take5)" "take5 $next"
equal "the version of the worker" "$(running take5-worker@1)" "take5 $next"
equal "the version of the old worker" "$(running old-worker)" "take5 $this"
for _ in 1 2 3 4; do submit "${secure[@]}" >/dev/null; done
drained
equal "ready posts" "$(posts ready)" 14
equal "other posts" "$(query "SELECT count(*) FROM post WHERE status <> 'ready'")" 0
equal "dead jobs" "$(query 'SELECT count(*) FROM job_dead')" 0
process=$(inside systemctl show -P MainPID old-worker)
old_jobs=$(query "SELECT count(*) FROM job_done JOIN worker ON worker.id = worker_id WHERE process = $process")
new_jobs=$(query "SELECT count(*) FROM job_done JOIN worker ON worker.id = worker_id WHERE process <> $process")
echo "the worker of $this completed $old_jobs jobs, those of $next $new_jobs of the registered ones"
[ "$old_jobs" -gt 0 ] || fail "the worker of $this completed no job"
[ "$new_jobs" -gt 0 ] || fail "the workers of $next completed no job"
inside sudo -u take5 take5 verify
inside systemctl stop old-worker

step "docs/deploying.md: the way back"
submit "${secure[@]}" >/dev/null
rm "$server"/*.deb
cp "$work/first.deb" "$server/$(basename "$deb")"
document docs/deploying.md "The way back"
equal "the version" "$(inside take5 version | head -n 1)" "take5 $this"
submit "${secure[@]}" >/dev/null
drained
equal "ready posts" "$(posts ready)" 16
inside sudo -u take5 take5 verify

step "docs/deploying.md: what a process takes, and what to watch"
document docs/deploying.md "Watch"
# The program moves into a cgroup below that of its unit. Shared pages count once (proc(5), smaps_rollup).
processes() { inside find "/sys/fs/cgroup/system.slice/$1" -name cgroup.procs -exec cat {} +; }
memory() { for process in $(processes "$1"); do inside grep -h ^Pss: "/proc/$process/smaps_rollup"; done | awk '{ sum += $2 } END { print int(sum / 1024) " MiB" }'; }
echo "idle, with its database: $(memory take5.service) in $(processes take5.service | wc -l) processes; a worker: $(memory 'system-take5\x2dworker.slice')"
echo "16 moments of the same bytes, which are stored once: $(inside sh -c 'du -sm /var/lib/take5/blobs' | cut -f 1) MiB of blobs, $(inside sh -c 'du -sm /var/lib/take5/postgres' | cut -f 1) MiB of PostgreSQL"

step "remove, install again, purge"
blobs=$(inside find /var/lib/take5/blobs -type f | wc -l)
inside sh -c 'echo "# of the administrator" >>/etc/take5/take5.conf'
inside apt-get remove --yes -qq take5 >/dev/null
inside sh -c '! command -v take5 && ! systemctl is-active --quiet take5 && ! pgrep -u take5' >/dev/null || fail "remove left a program"
equal "blobs after remove" "$(inside find /var/lib/take5/blobs -type f | wc -l)" "$blobs"
inside grep -q '^# of the administrator' /etc/take5/take5.conf || fail "remove changed the configuration"
inside sh -c 'apt-get install --yes -qq /root/server/take5_*.deb' >/dev/null 2>&1
equal "posts after an installation again" "$(posts ready)" 16
inside grep -q '^# of the administrator' /etc/take5/take5.conf || fail "an installation changed the configuration"
document docs/deploying.md "Remove"
files >"$work/files.after"
equal "files of take5 after purge" "$(comm -13 "$work/files.before" "$work/files.after" | grep take5 | grep -v '^/etc/nginx/\|^/etc/ssl/\|^/opt/old\|^/var/backups/' || true)" ""
equal "files of its user after purge" "$(inside find / -xdev \( -user take5 -o -group take5 \) -not -path '/proc/*' -not -path '/var/backups/*')" ""
equal "processes of its user" "$(inside pgrep -u take5 || true)" ""
inside getent passwd take5

step "all sections with commands have run"
while read -r heading; do
  case "$sections_run" in *"|docs/deploying.md#$heading|"*) ;; *) fail "docs/deploying.md, '$heading' has commands that do not run" ;; esac
done < <(sections docs/deploying.md)
printf '\npassed in %s s\n' "$SECONDS"
