# shellcheck shell=bash
# A bare Debian that boots its own systemd, in namespaces of this machine: no process, mount, address or unit of the one is the
# other's. run.sh reads this file.

release=bookworm
mirror=http://deb.debian.org/debian
# What a server has before take5 is installed: an init, and what the test itself looks with.
bare_packages=systemd,systemd-sysv,dbus,ca-certificates,curl,iproute2,procps,sudo,jq

# Makes the cached file system of the bare Debian, once.
make_base() {
  local base=$1
  [ ! -e "$base/.complete" ] || return 0
  rm -rf "$base"
  debootstrap --variant=minbase --include="$bare_packages" "$release" "$base" "$mirror" >"$base.log" 2>&1 || {
    tail "$base.log" >&2
    return 1
  }
  # What belongs to hardware, to the kernel of this machine or to a network.
  local unit
  for unit in systemd-udevd.service systemd-sysctl.service systemd-modules-load.service sys-kernel-debug.mount \
    sys-kernel-tracing.mount sys-fs-fuse-connections.mount apt-daily.timer apt-daily-upgrade.timer; do
    ln -sf /dev/null "$base/etc/systemd/system/$unit"
  done
  echo machine >"$base/etc/hostname"
  echo 127.0.0.1 localhost machine >"$base/etc/hosts"
  # This installation need not survive a power cut.
  echo force-unsafe-io >"$base/etc/dpkg/dpkg.cfg.d/test"
  touch "$base/.complete"
}

# Puts a writable layer over the base: $machine/root.
make_root() {
  local base=$1
  mkdir -p "$machine/upper" "$machine/work" "$machine/root"
  mount -t overlay overlay -o "lowerdir=$base,upperdir=$machine/upper,workdir=$machine/work" "$machine/root"
}

# Downloads packages with all that they need into the machine's cache, since the booted machine has no network.
download() {
  cp /etc/resolv.conf "$machine/root/etc/resolv.conf"
  chroot "$machine/root" apt-get update -qq
  chroot "$machine/root" apt-get install -qq --yes --download-only "$@" >/dev/null
}

# Boots the machine, and waits until its units have started.
boot() {
  local cgroup=$machine/cgroup
  mkdir -p "$cgroup"
  unshare --mount --uts --ipc --net --pid --cgroup --fork --kill-child -- bash -euc '
    root=$1
    ip link set lo up
    mount --make-rprivate /
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys"
    mount -t tmpfs -o mode=755 tmpfs "$root/run"
    mount -t tmpfs -o mode=755 tmpfs "$root/dev"
    mkdir "$root/dev/pts" "$root/dev/shm"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
    ln -s pts/ptmx "$root/dev/ptmx"
    ln -s /proc/self/fd "$root/dev/fd"
    for name in null zero full random urandom tty; do
      touch "$root/dev/$name"
      mount --bind "/dev/$name" "$root/dev/$name"
    done
    # Controllers that the hierarchies of version 1 hold are missing in it.
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
    cd "$root"
    pivot_root . mnt
    umount -l mnt
    exec env -i container=take5-test PATH=/usr/sbin:/usr/bin:/sbin:/bin /sbin/init
  ' bash "$machine/root" </dev/null >"$machine/console.log" 2>&1 &
  booted=$!
  local tries
  for tries in $(seq 600); do
    init=$(pgrep --parent "$booted" | head -n 1) && [ -n "$init" ] && inside systemctl is-system-running --wait >/dev/null 2>&1 && return
    [ "$(inside systemctl is-system-running 2>/dev/null)" != degraded ] || return 0
    [ -d "/proc/$booted" ] || break
    sleep 0.1
  done
  echo "the machine did not boot:" >&2
  cat "$machine/console.log" >&2
  return 1
}

# Runs a command in the booted machine.
inside() {
  nsenter --target "$init" --mount --uts --ipc --net --pid --cgroup --root -- \
    env -i --chdir=/ PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

# Ends the machine with all of its processes, and removes its layer.
end_machine() {
  [ -z "${booted:-}" ] || { kill -KILL "$booted" 2>/dev/null && wait "$booted" 2>/dev/null; } || true
  booted=
  umount -R "$machine/root" 2>/dev/null || umount -l "$machine/root" 2>/dev/null || true
  rm -rf "$machine"
}
