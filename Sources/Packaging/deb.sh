#!/bin/bash
# deb.sh PROGRAMS OUTPUT: builds the Debian package of the programs in the folder PROGRAMS, for the architecture of this machine,
# in the folder OUTPUT. The same programs give the same bytes. Why not debhelper: docs/decisions/0022-package.md.
set -euo pipefail
programs=$1
output=$2
packaging=$(cd "$(dirname "$0")" && pwd)
checkout=$(cd "$packaging/../.." && pwd)
version=$("$packaging/version.sh")
# Debian sorts a pre-release, 1.0.0-rc.1, before its release with a tilde; the revision is that of the package.
debian_version=${version/-/\~}-${REVISION:-1}
architecture=$(dpkg --print-architecture)
maintainer=${MAINTAINER:-take5 maintainers <take5@example.org>}
tools() { command -v "$1" >/dev/null || { echo "deb.sh: $1 is missing: apt-get install $2" >&2; exit 1; }; }
tools dpkg-shlibdeps dpkg-dev
tools patchelf patchelf
tools strip binutils

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

# The newest release in CHANGELOG.md is this version; its date is that of every file.
sed -nE 's/^## \[([0-9][^]]*)\] - ([0-9-]+)$/\1 \2/p' "$checkout/CHANGELOG.md" >"$work/releases"
read -r _ date <"$work/releases"
SOURCE_DATE_EPOCH=$(date --utc --date "$date" +%s)
export SOURCE_DATE_EPOCH

reported=$(env --unset=TAKE5_VERSION "$programs/take5" version | head -n 1)
[ "$reported" = "take5 $version" ] || {
  echo "deb.sh: the programs are '$reported', and the package would be $version: 'make build'" >&2
  exit 1
}

DESTDIR=$root PREFIX=/usr SYSCONFDIR=/etc UNITDIR=/lib/systemd/system ZSHDIR=/usr/share/zsh/vendor-completions \
  "$packaging/install.sh" "$programs"
strip --strip-unneeded --remove-section=.comment "$root/usr/bin/take5" "$root/usr/libexec/take5/take5-media"

documents=$root/usr/share/doc/take5
install -d "$documents/examples" "$root/usr/share/lintian/overrides" "$root/DEBIAN"
install -m 644 "$packaging/debian/copyright" "$documents/copyright"
install -m 644 "$packaging/debian/take5.lintian-overrides" "$root/usr/share/lintian/overrides/take5"
install -m 644 "$checkout"/samples/*.mp4 "$documents/examples"
install -m 644 "$packaging/prometheus/take5.rules.yml" "$packaging/grafana/take5.json" "$documents/examples"
gzip -9nc "$checkout/CHANGELOG.md" >"$documents/changelog.gz"
while read -r release day; do
  revision=1
  [ "$release" != "$version" ] || revision=${REVISION:-1}
  printf 'take5 (%s-%s) stable; urgency=medium\n\n' "${release/-/\~}" "$revision"
  printf '  * Release %s: what changed stands in changelog.gz.\n\n' "$release"
  printf ' -- %s  %s\n\n' "$maintainer" "$(date --utc --date "$day" --rfc-email)"
done < <({ [ "$(head -n 1 "$work/releases")" = "$version $date" ] || echo "$version $date"; cat "$work/releases"; }) |
  gzip -9nc >"$documents/changelog.Debian.gz"

# The libraries that the programs open at their first use (Sources/Platform/SharedLibraries.swift) are dependencies like those
# that they are linked with: copies of the programs are linked with all of them, for dpkg-shlibdeps.
opened=$(grep -rhoE '"lib[a-z0-9]+\.so\.[0-9]+"' "$checkout"/Sources --include='*.swift' | tr -d '"' | sort -u)
# Where the source names the major version by a macro, the library's development package knows it.
# Without a compiler of its own name it warns.
folder=/usr/lib/$(dpkg-architecture --query DEB_HOST_MULTIARCH 2>/dev/null)
for library in $(grep -rhoE '"lib[a-z0-9]+\.so\.\\\(' "$checkout"/Sources --include='*.swift' | grep -oE 'lib[a-z0-9]+\.so' | sort -u); do
  opened="$opened $(objdump -p "$folder/$library" | sed -n 's/^ *SONAME *//p')"
done
mkdir -p "$work/linked/debian"
for program in usr/bin/take5 usr/libexec/take5/take5-media; do
  copy=$work/linked/$(basename "$program")
  cp "$root/$program" "$copy"
  for library in $opened; do patchelf --add-needed "$library" "$copy"; done
done
printf 'Source: take5\n\nPackage: take5\nArchitecture: any\n' >"$work/linked/debian/control"
# It warns about each library that one of the copies does not use.
libraries=$(cd "$work/linked" && dpkg-shlibdeps -O take5 take5-media 2>"$work/warnings" | sed -n 's/^shlibs:Depends=//p') || {
  cat "$work/warnings" >&2
  exit 1
}

# Since Debian 13 the encoder with which libheif writes AVIF is a plugin, with a package of its own.
plugin=libheif-plugin-aomenc
! dpkg-query --show --showformat '${Status}' $plugin 2>/dev/null | grep -q 'ok installed' || libraries="$libraries, $plugin"

for script in preinst postinst prerm postrm; do install -m 755 "$packaging/debian/$script" "$root/DEBIAN/$script"; done
echo /etc/take5/take5.conf >"$root/DEBIAN/conffiles"
chmod -R u=rwX,go=rX "$root"
(cd "$root" && find . -path ./DEBIAN -prune -o -path ./etc -prune -o -type f -printf '%P\n' | sort | xargs md5sum) \
  >"$root/DEBIAN/md5sums"
size=$(du --summarize --apparent-size --block-size=1024 --exclude=DEBIAN "$root" | cut -f 1)
sed -e "s|@version@|$debian_version|" -e "s|@architecture@|$architecture|" -e "s|@maintainer@|$maintainer|" \
  -e "s|@size@|$size|" -e "s|@libraries@|$libraries|" "$packaging/debian/control" >"$root/DEBIAN/control"
find "$root" -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +

mkdir -p "$output"
package=$output/take5_${debian_version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$package" >/dev/null
echo "$package"
