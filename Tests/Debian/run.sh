#!/bin/bash
# run.sh RELEASE TOOLCHAIN USER COMMAND…: runs the README's commands in a bare Debian of a release, such as trixie, as a user whom it
# makes, or as root. The machine has nothing but what the README asks for: `make`, the packages of the toolchain, `sudo`, and the Swift
# toolchain, whose folder on this machine is TOOLCHAIN. Needs root.
#
# The checkout is a copy of this one, without what Git ignores. Packages come from Debian's mirror; what was downloaded once is kept. A
# package that a command builds is left in .build/debian/package-RELEASE.
set -euo pipefail
checkout=$(cd "$(dirname "$0")/../.." && pwd)
cd "$checkout"
# shellcheck source=Tests/Packaging/machine.sh
. Tests/Packaging/machine.sh
release=$1 toolchain=$2 user=$3
shift 3
[ "$(id -u)" = 0 ] || { echo "run.sh: a machine in namespaces needs root" >&2; exit 1; }

cache=$checkout/.build/debian
base=$cache/$release
mkdir -p "$cache/archives-$release/partial"
work=$(mktemp -d "$cache/run.XXXXXX")
machines=$work
trap 'end_machines; rm -rf "$work"' EXIT

if [ ! -e "$base/.complete" ]; then
  bootstrap "$base" ca-certificates
  cat >"$base/etc/apt/sources.list" <<LIST
deb $mirror $release main
deb $mirror $release-updates main
deb $mirror-security $release-security main
LIST
  touch "$base/.complete"
fi
make_machine "$base" "debian-$release"
cp /etc/resolv.conf "$root/etc/resolv.conf"
place=/home/$user/take5
[ "$user" != root ] || place=/root/take5
mkdir -p "$root$place"
git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from=- --ignore-failed-read | tar --extract --directory "$root$place"

# What the README asks for, where it lists it.
version=$(. "$base/etc/os-release" && echo "$VERSION_ID")
needed=$(sed -n "s/^| Debian $version | \(.*\) |$/\1/p" README.md | tr -d '`,')
[ -n "$needed" ] || { echo "run.sh: README.md names no packages of the toolchain for Debian $version" >&2; exit 1; }

cat >"$root/root/first-hour.sh" <<'HOUR'
set -euo pipefail
needed=$1 user=$2 place=$3 path=$4
shift 4
apt-get update -qq
env DEBIAN_FRONTEND=noninteractive apt-get install --yes -qq --no-install-recommends make sudo $needed >/dev/null
if [ "$user" != root ]; then
  useradd --shell /bin/bash "$user"
  echo "$user ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/test
  chown -R "$user:" "/home/$user"
fi
cd "$place"
for command in "$@"; do
  echo "== $user: $command"
  began=$SECONDS
  runuser -u "$user" -- env HOME="$(dirname "$place")" PATH="$path:$PATH" ${TAKE5_STRICT:+TAKE5_STRICT="$TAKE5_STRICT"} \
    ${TAKE5_FIELD_MEDIA:+TAKE5_FIELD_MEDIA="$TAKE5_FIELD_MEDIA"} LC_ALL=C.UTF-8 bash -c "$command"
  echo "== $user: $command: $((SECONDS - began)) s"
done
du --summarize --block-size=1000000 .build
HOUR
shared=("$toolchain:$toolchain" "$cache/archives-$release:/var/cache/apt/archives")
variables=()
[ -z "${TAKE5_STRICT:-}" ] || variables+=("TAKE5_STRICT=$TAKE5_STRICT")
if [ -n "${TAKE5_FIELD_MEDIA:-}" ]; then
  shared+=("$TAKE5_FIELD_MEDIA:/media/field")
  variables+=(TAKE5_FIELD_MEDIA=/media/field)
fi
first_process -- "${variables[@]}" bash /root/first-hour.sh "$needed" "$user" "$place" "$toolchain/usr/bin" "$@" </dev/null &
booted[$machine]=$!
wait "${booted[$machine]}"
if [ -d "$root$place/.build/package" ]; then
  rm -rf "$cache/package-$release"
  cp -r "$root$place/.build/package" "$cache/package-$release"
fi
