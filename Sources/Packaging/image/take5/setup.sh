#!/bin/sh
# setup.sh ROOT: what the packages leave to an administrator, and what a container does not need.
set -eu
root=$1

# A new volume gets the owner and the rights of the folder that it covers.
install -d -o 870 -g 870 -m 700 "$root/var/lib/take5"

# The package ssl-cert makes a key at its installation, which all containers would share.
rm -f "$root/etc/ssl/private/ssl-cert-snakeoil.key"
find "$root/etc/ssl/certs" -lname ssl-cert-snakeoil.pem -delete
rm -f "$root/etc/ssl/certs/ssl-cert-snakeoil.pem"

# Nothing in a container becomes another user.
find "$root" -xdev -type f -perm /6000 -exec chmod a-s {} +

# PostgreSQL does without its compiler of expressions where the library is missing; this is a quarter of the image.
rm -f "$root"/usr/lib/postgresql/*/lib/llvmjit.so "$root"/usr/lib/*/libLLVM-*.so* "$root"/usr/lib/*/libz3.so*
rm -rf "$root"/usr/lib/postgresql/*/lib/bitcode
# Perl's modules are for the scripts of Debian's cluster manager; dpkg uses those of perl-base. C.UTF-8 needs no sources of locales.
rm -rf "$root/usr/share/i18n"
# The programs themselves take the place of its wrappers.
for program in "$root"/usr/lib/postgresql/*/bin/*; do ln -sf "${program#"$root"}" "$root/usr/bin/${program##*/}"; done
rm -rf "$root"/usr/share/perl "$root"/usr/share/perl5 "$root"/usr/lib/*/perl "$root"/usr/lib/*/libperl.so*

# Units and their tools: a container has no init.
rm -rf "$root/lib/systemd" "$root/etc/systemd" "$root/var/lib/systemd" "$root/etc/init.d" "$root"/etc/rc?.d

# What an installation notes of its own day.
rm -rf "$root"/var/log/* "$root"/var/lib/apt/lists/*_* "$root"/var/cache/* "$root"/tmp/* "$root"/run/*
rm -rf "$root"/etc/*- "$root"/var/lib/dpkg/*-old "$root"/etc/apt/sources.list* "$root/etc/apt/preferences.d/lock" "$root/etc/hostname" "$root/etc/resolv.conf"
