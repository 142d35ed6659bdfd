#!/bin/bash
# run.sh IMAGES NEXT PYTHON: tests the images that 'make image' and 'make image-store' have built in the folder IMAGES, that of the next
# version in the folder NEXT, compose.yaml and the manifests for Kubernetes; an empty NEXT leaves the upgrade out. PYTHON has podman-compose and kubernetes-validate. Needs root.
#
# The commands of docs/containers.md run as they stand there; the test fails if a section with commands has not run.
set -euo pipefail
checkout=$(cd "$(dirname "$0")/../.." && pwd)
cd "$checkout"
[ "$(id -u)" = 0 ] || { echo "run.sh: namespaces need root" >&2; exit 1; }
# Networks, ports and processes of its own: nothing else of the machine reaches the containers or is in their way, and nothing of them
# stays.
[ -n "${TAKE5_TEST_NAMESPACE:-}" ] ||
  TAKE5_TEST_NAMESPACE=1 exec unshare --mount --net --pid --fork --kill-child --mount-proc -- "$0" "$@"
ip link set lo up
images=$1
next=$2
python=$3
# shellcheck source=Tests/image/podman.sh
. Tests/image/podman.sh

step() { printf '\n== %s (after %s s)\n' "$*" "$SECONDS"; }
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
equal() { [ "$2" = "$3" ] || fail "$1: '$2' instead of '$3'"; }

mkdir -p .build/image-run
work=$(mktemp -d "$checkout/.build/image-run/run.XXXXXX")
start_podman "$work"
trap finish EXIT
finish() {
  local code=$?
  [ $code = 0 ] || { podman ps --all; podman ps --all --quiet | while read -r id; do podman logs --tail 20 "$id"; done; } >&2 || true
  stop_podman
  rm -rf "$work"
  exit $code
}

# The lines of the code blocks in a language below a heading, or of the block with a number.
blocks() {
  awk -v heading="$1" -v language="${3:-sh}" -v number="${2:-0}" '
    /^```/ { inside = !inside && found && $0 == "```" language; fenced = !fenced; count += inside; next }
    !fenced && /^#+ / { found = $0 ~ "^#+ " heading "$" }
    inside && (!number || count == number)' docs/containers.md
}
sections_run=
# Runs the commands below a heading in a folder that has the images at the place where 'make image' writes them.
document() {
  local text
  text=$(blocks "$1" "${2:-0}")
  [ -n "$text" ] || fail "docs/containers.md has no commands below '$1'"
  sections_run="$sections_run|$1|"
  (cd "$place" && bash -eux -o pipefail -c "$text") </dev/null || fail "docs/containers.md, '$1'"
}
inside() { podman exec "$container" "$@"; }
query() { inside take5 database -- psql --no-psqlrc --tuples-only --no-align --command "$1" </dev/null; }
posts() { query "SELECT count(*) FROM post WHERE status = '$1'"; }
examples=(/usr/share/doc/take5/examples/front.mp4 /usr/share/doc/take5/examples/back.mp4)

place=$work/place
version=$(Sources/Packaging/version.sh)
archive=$(ls "$images"/take5_"$version"-1_*.tar)
mkdir -p "$place/.build/image" "$place/Sources/Packaging/image"
cp "$archive" "$images"/take5-store_*.tar "$place/.build/image"
cp compose.yaml "$place"
cp Sources/Packaging/image/seccomp.json "$place/Sources/Packaging/image"
export PATH=$checkout/$python:$PATH

step "its size and its description"
size=$(tar --list --verbose --file "$archive" | awk '{ sum += $3 } END { print int(sum / 1000000) }')
echo "$size MB compressed"
[ "$size" -le 260 ] || fail "the image is larger than 260 MB"

step "docs/containers.md: run it"
document "Run it" 1
container=take5
equal "the user" "$(inside id -u)" 870
equal "the version" "$(inside take5 version | head -n 1)" "take5 $version"
equal "capabilities" "$(inside grep ^Cap /proc/1/status | awk '{ print $2 }' | sort -u)" 0000000000000000
equal "no_new_privs" "$(inside grep ^NoNewPrivs /proc/1/status | tr -dc 0-9)" 1
! inside touch /etc/file 2>/dev/null || fail "the root can be written"
equal "programs that change the user" "$(inside find / -xdev -type f -perm /6000)" ""
equal "private keys" "$(inside find /etc/ssl/private -type f 2>/dev/null | wc -l)" 0
inside sh -c 'for f in /usr/bin/take5 /usr/libexec/take5/take5-media /usr/lib/postgresql/*/bin/postgres; do ldd "$f"; done' | grep 'not found' && fail "a program lacks a library"
inside take5 inspect /tmp/moment/composed.mp4 >/dev/null || fail "the composed video cannot be decoded"
podman inspect --format '{{.Config.StopSignal}} {{.Config.Healthcheck.Test}} {{json .Config.Labels}}' take5

step "docs/containers.md: reach it"
document "Run it" 2
equal "ready posts of the volume" "$(posts ready)" 1
equal "a request without the key" "$(curl --silent --output /dev/null --write-out '%{http_code}' http://127.0.0.1:8080/v1/posts)" 401

step "SIGTERM under load"
for _ in 1 2 3 4 5 6 7 8; do inside take5 submit post "${examples[@]}" --author bob </dev/null >/dev/null; done
stop_running() {
  local begin
  begin=$(date +%s)
  podman stop "$container" >/dev/null
  [ $(($(date +%s) - begin)) -lt 60 ] || fail "the service was killed"
  equal "the exit status" "$(podman inspect --format '{{.State.ExitCode}}' "$container")" 0
  echo "stopped in $(($(date +%s) - begin)) s"
}
# A composition takes longer than what else is in flight.
for _ in $(seq 300); do
  executing=$(query "SELECT count(*) FROM job WHERE state = 'x' AND kind = 'post'")
  [ "$executing" = 0 ] || break
  sleep 0.1
done
[ "$executing" -gt 0 ] || fail "no composition is in flight"
stop_running

step "docs/containers.md: upgrade, with the volume and the jobs that wait"
version=$(Sources/Packaging/version.sh)
if [ -n "$next" ]; then
  cp "$next"/take5_*.tar "$place/.build/image"
  rm "$place/.build/image/$(basename "$archive")"
  version=$(Sources/Packaging/version.sh next)
fi
document "Upgrade"
equal "the version" "$(inside take5 version | head -n 1)" "take5 $version"
drained() {
  for _ in $(seq 300); do
    [ "$(query 'SELECT count(*) FROM job')" != 0 ] || return 0
    sleep 1
  done
  fail "jobs did not end: $(query 'SELECT state, attempt, last_error FROM job')"
}
drained
equal "ready posts" "$(posts ready)" 9
equal "dead jobs" "$(query 'SELECT count(*) FROM job_dead')" 0
inside take5 verify --deep

step "the walls, as containers have them"
# Docker's own profile permits these calls to containers with CAP_SYS_ADMIN alone.
echo '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"action":"SCMP_ACT_ERRNO","errnoRet":1,
  "names":["unshare","mount","umount2","pivot_root","setns","fsopen","fsmount","move_mount","open_tree","mount_setattr"]}]}' >"$work/docker.json"
# The name of each wall, and whether it stands with a profile.
walls() {
  podman run --rm --read-only --cap-drop all --security-opt no-new-privileges "$@" take5 doctor --json 2>/dev/null |
    jq -r '.results[] | select(.check == "walls") | "\(.subject) \(if .level == "ok" then "up" else "down" end)"'
}
{
  echo '| wall | the profile of Podman | `seccomp.json` | a profile without `unshare` and `mount` |'
  echo '|---|---|---|---|'
  paste -d ' ' <(walls) <(walls --security-opt seccomp=Sources/Packaging/image/seccomp.json) <(walls --security-opt seccomp="$work/docker.json") |
    awk '{ printf "| `%s` | %s | %s | %s |\n", $1, $2, $4, $6 }'
} >"$work/walls"
cat "$work/walls"
measured() { sed -n '/measured by a test: begin/,/measured by a test: end/p' docs/containers.md | sed '1d;$d'; }
if [ -n "${TAKE5_WRITE_DOCS:-}" ]; then
  sed -i -e '/measured by a test: begin/,/measured by a test: end/{/^|/d}' -e "/measured by a test: begin/r $work/walls" docs/containers.md
fi
equal "the table of docs/containers.md" "$(measured)" "$(cat "$work/walls")"
# A service that requires the walls, and one that is refused.
podman run --rm --env TAKE5_SANDBOX=required take5 validate "${examples[@]}" >/dev/null
! podman run --rm --env TAKE5_SANDBOX=required --security-opt seccomp="$work/docker.json" take5 validate "${examples[@]}" 2>"$work/refused" || fail "walls that are down are accepted"
cat "$work/refused"

step "docs/containers.md: compose"
podman stop take5 >/dev/null
document "Compose"
compose() { (cd "$place" && podman-compose "$@" </dev/null 2>>"$work/compose.log"); }
for _ in 1 2 3 4 5 6; do compose exec api take5 submit post "${examples[@]}" --author bob >/dev/null; done
container=$(podman ps --quiet --filter name=api)
drained
equal "ready posts" "$(posts ready)" 7
equal "workers that have made them" "$(query 'SELECT count(DISTINCT host) FROM job_done JOIN worker ON worker.id = worker_id')" 2
equal "blobs beside the bucket" "$(inside sh -c 'ls /var/lib/take5/blobs 2>/dev/null | wc -l')" 0
inside take5 verify --deep
for container in $(podman ps --quiet); do equal "the user of $container" "$(inside id -u | sed s/871/870/)" 870; done
! grep -r "$(cat "$place/secrets/api-key")" "$place/compose.yaml" || fail "compose.yaml has a secret"
compose down --volumes

step "the manifests for Kubernetes"
python Tests/image/manifests.py

step "all sections with commands have run"
awk '/^```/ { if ($0 == "```sh" && !fenced) print heading; fenced = !fenced; next } !fenced && /^#+ / { sub(/^#+ /, ""); heading = $0 }' docs/containers.md | uniq |
  while read -r heading; do
    case "$sections_run|Build the image|" in *"|$heading|"*) ;; *) fail "docs/containers.md, '$heading' has commands that do not run" ;; esac
  done
printf '\npassed in %s s\n' "$SECONDS"
