#!/bin/bash
# upgrade.sh FORMER LATTER: installs the package FORMER in a bare Debian 12 with systemd, fills each table of its store, upgrades the
# distribution to Debian 13 and installs the package LATTER, as docs/backup.md says, whose commands run as they stand there. Needs root.
set -euo pipefail
checkout=$(cd "$(dirname "$0")/../.." && pwd)
cd "$checkout"
# shellcheck source=Tests/Packaging/machine.sh
. Tests/Packaging/machine.sh
[ "$(id -u)" = 0 ] || { echo "upgrade.sh: a machine in namespaces needs root" >&2; exit 1; }
former=$(realpath "$1") latter=$(realpath "$2")
release=bookworm
mkdir -p .build/debian .build/packaging
work=$(mktemp -d "$checkout/.build/debian/upgrade.XXXXXX")
machines=$work
trap finish EXIT
# Runs the commands of a block below a heading of docs/backup.md, by its number, or those of some of its lines.
document() {
  local text
  text=$(awk -v number="$1" '
    /^```/ { inside = !inside && found && $0 == "```sh"; fenced = !fenced; count += inside; next }
    !fenced && /^#+ / { found = $0 == "### Another release of Debian" }
    inside && count == number' docs/backup.md | sed -n "${2:-1,\$}p")
  [ -n "$text" ] || fail "docs/backup.md has no block $1 of commands"
  inside bash -c "cd /root/server && set -eux && $text" </dev/null || fail "docs/backup.md, block $1"
}
# Root does not use the store of another user.
take5() { inside sudo -u take5 take5 "$@" </dev/null; }
query() { take5 database -- psql --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 "$@"; }
version() { query --command 'SHOW server_version_num' | cut -c 1-2; }
# The number of rows of each table.
counts() {
  query --command "
    SELECT relname, (xpath('/row/c/text()', query_to_xml(format('SELECT count(*) AS c FROM %I', relname), false, true, '')))[1]::text
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
    ORDER BY relname COLLATE \"C\""
}
# Stops the service, gives each table a row that a running one would take away, and writes the number of rows in each table to a file.
fill() {
  inside systemctl stop take5
  query --single-transaction --command "$(cat Tests/Debian/waiting.sql)"
  counts >"$1"
  equal "tables without a row" "$(grep '|0$' "$1")" ""
  take5 verify --deep
}
# That the stopped store has the rows of a file, and nothing is wrong with it.
same() {
  counts | diff "$1" - || fail "other rows"
  take5 verify --deep
}
# That the service makes a moment, and serves so many.
serves() {
  inside take5 submit post /root/server/front.mp4 /root/server/back.mp4 --author bob --api-key-file /root/server/key --save "/root/server/moment-$1" </dev/null >/dev/null
  inside take5 inspect "/root/server/moment-$1/composed.mp4" >/dev/null || fail "the composed video cannot be decoded"
  equal "ready moments" "$(query --command "SELECT count(*) FROM post WHERE kind = 'take5' AND status = 'ready'")" "$1"
}
# Makes apt's lists of the sources, and the packages of a command, be there for the machine, which has no network.
fetch() { chroot "$root" sh -c "apt-get update -qq && apt-get --yes -qq --download-only $* >/dev/null"; }

step "a store of Debian 12 with rows in each table"
make_base "$checkout/.build/packaging/$release"
make_machine "$checkout/.build/packaging/$release" upgraded
mkdir -p "$root/root/server"
cp "$former" "$root/root/server/take5.deb"
cp samples/*.mp4 Tests/Debian/content.py Tests/Debian/waiting.sql "$root/root/server"
download /root/server/take5.deb python3
boot
inside sh -c 'apt-get install --yes -qq /root/server/take5.deb python3 >/dev/null 2>&1'
inside take5 still /root/server/back.mp4 --at 1 --output /root/server/photo.jpg >/dev/null
inside sh -c 'echo "accounts = on" >>/etc/take5/take5.conf && systemctl restart take5'
key=$(inside sudo -u take5 take5 keys create upgrade --scopes submit,read,change,delete,tokens,events,webhooks,moderate,admin --json </dev/null | jq -r .key)
inside sh -c "echo '$key' >/root/server/key"
# The service knows a new key within seconds.
for _ in $(seq 100); do
  inside curl --fail --silent --output /dev/null -H "Authorization: Bearer $key" http://127.0.0.1:8080/v1/posts && break
  sleep 0.1
done
inside python3 /root/server/content.py http://127.0.0.1:8080 "$key" /root/server /root/server/photo.jpg
equal "the server" "$(version)" 15

step "docs/backup.md: before the upgrade"
inside systemctl start take5
document 1
fill "$work/former"

step "the distribution"
sed -i "s/bookworm/trixie/g" "$root/etc/apt/sources.list"
fetch full-upgrade
inside sh -c 'apt-get full-upgrade --yes -qq >/root/upgrade.log 2>&1' || { inside tail /root/upgrade.log; fail "apt-get full-upgrade"; }
inside sh -c 'apt-get autoremove --yes -qq >/dev/null 2>&1; dpkg-query --show take5 postgresql-15; cat /etc/debian_version' || true

step "docs/backup.md: the package of Debian 13"
rm "$root"/root/server/take5*.deb
cp "$latter" "$root/root/server/"
fetch install "/root/server/$(basename "$latter")"
# What the service would take away, or add, is compared before it starts.
inside sh -c 'printf "#!/bin/sh\nexit 101\n" >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d'
inside apt-get install --yes -qq "/root/server/$(basename "$latter")" >/dev/null 2>&1
equal "the server" "$(version)" 15
same "$work/former"
inside rm /usr/sbin/policy-rc.d
document 2
serves 2

step "docs/backup.md: PostgreSQL 15 is gone"
inside systemctl stop take5
inside sh -c 'apt-get purge --yes -qq postgresql-15 postgresql-client-15 >/dev/null 2>&1'
! inside systemctl start take5 || fail "the service starts without its PostgreSQL"
inside journalctl --no-pager --lines 20 --output cat -u take5 | grep -q 'PostgreSQL 15' || fail "the log does not say what is missing"
# The lists that the documented update reads, and what it installs.
document_lists=/etc/apt/sources.list.d/bookworm.list
chroot "$root" sh -c "sed 's/trixie/bookworm/g' /etc/apt/sources.list >$document_lists"
fetch install postgresql-15 postgresql-client-15
chroot "$root" rm $document_lists
document 4
inside systemctl reset-failed take5
inside systemctl start take5
serves 3

step "docs/backup.md: PostgreSQL 17"
fill "$work/latter"
document 3 1,2
equal "the server" "$(version)" 17
same "$work/latter"
document 3 3,4
serves 4
equal "servers of PostgreSQL" "$(inside ls /usr/lib/postgresql)" 17
echo "passed in $SECONDS s"
