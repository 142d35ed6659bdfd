#!/bin/sh
# install.sh PROGRAMS: installs the programs of the folder PROGRAMS with their manual pages, completions, definitions, units and the example
# configuration, below DESTDIR. 'make install' calls it, and so does the script of the Debian package.
set -eu
programs=$1
source=$(dirname "$0")
prefix=${PREFIX:-/usr/local}
configuration=${SYSCONFDIR:-/etc}/take5
data=${DATADIR:-/var/lib/take5}
share=$prefix/share
units=${UNITDIR:-$prefix/lib/systemd/system}
zsh=${ZSHDIR:-$share/zsh/site-functions}
to=${DESTDIR:-}
take5=$programs/take5

[ -x "$take5" ] && [ -x "$programs/take5-media" ] || {
  echo "install.sh: $programs has no take5 and take5-media: 'make build' builds them" >&2
  exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Everything that the program writes about itself, before anything is installed.
write() {
  file=$1
  shift
  "$take5" "$@" >"$work/$file" && [ -s "$work/$file" ] || {
    echo "install.sh: 'take5 $*' failed: this version of take5 cannot be installed" >&2
    exit 1
  }
}
write take5.1 manual take5
write take5.conf.5 manual take5.conf
write bash completions bash
write zsh completions zsh
write fish completions fish
write example config --example
"$take5" definition write --to "$work/definitions" >"$work/written" && [ -s "$work/written" ] || {
  echo "install.sh: 'take5 definition write' failed: this version of take5 cannot be installed" >&2
  exit 1
}
gzip -9n "$work/take5.1" "$work/take5.conf.5"
# The folder that the units own.
sed -E "s|^#? ?data = .*|data = $data|" "$work/example" >"$work/take5.conf"
[ "$(grep -c "^data = $data\$" "$work/take5.conf")" = 1 ] || {
  echo "install.sh: 'take5 config --example' has no line, or several lines, for the key data" >&2
  exit 1
}

install -D -m 755 "$take5" "$to$prefix/bin/take5"
install -D -m 755 "$programs/take5-media" "$to$prefix/libexec/take5/take5-media"
install -D -m 644 "$work/take5.1.gz" "$to$share/man/man1/take5.1.gz"
install -D -m 644 "$work/take5.conf.5.gz" "$to$share/man/man5/take5.conf.5.gz"
install -D -m 644 "$work/bash" "$to$share/bash-completion/completions/take5"
install -D -m 644 "$work/zsh" "$to$zsh/_take5"
install -D -m 644 "$work/fish" "$to$share/fish/vendor_completions.d/take5.fish"
# To start from; the program has them built in.
for definition in "$work"/definitions/*.json; do
  install -D -m 644 "$definition" "$to$share/take5/definitions/$(basename "$definition")"
done
for unit in "$source"/*.service; do
  sed "s|^ExecStart=/usr/bin/|ExecStart=$prefix/bin/|" "$unit" >"$work/unit"
  install -D -m 644 "$work/unit" "$to$units/$(basename "$unit")"
done
# A configuration of the machine stays.
[ -e "$to$configuration/take5.conf" ] || install -D -m 644 "$work/take5.conf" "$to$configuration/take5.conf"
