# shellcheck shell=bash
# Bare Debians in namespaces of this machine, most with a systemd of their own: no process, mount or unit of the one is the other's.
# run.sh reads this file, and so does Tests/Debian/run.sh.

# That of this machine.
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=http://deb.debian.org/debian
# What a server has before take5 is installed: an init, and what the test itself looks with.
bare_packages=systemd,systemd-sysv,dbus,ca-certificates,curl,iproute2,procps,sudo,jq

# The folder with a folder for each machine, and of each machine the process that has booted it, and its init.
machines=
declare -A booted=() init=()
# The machine that commands are for, and its file system.
machine=
root=

# Ends the machines and the test, whose folder is 'work'; of a failure the log of the machine is shown.
finish() {
  local code=$?
  [ $code = 0 ] || report_failure
  end_machines
  rm -rf "$work"
  exit $code
}
report_failure() {
  [ -n "$machine" ] && [ -n "${init[$machine]:-}" ] || return 0
  echo "the log of the machine '$machine':" >&2
  inside journalctl --no-pager --lines 60 --output cat -u 'take5*' >&2 || true
}
step() { printf '\n== %s (after %s s)\n' "$*" "$SECONDS"; }
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
equal() { [ "$2" = "$3" ] || fail "$1: '$2' instead of '$3'"; }

# Makes the cached file system of a bare Debian, once.
bootstrap() {
  local base=$1
  rm -rf "$base"
  debootstrap --variant=minbase --include="$2" "$release" "$base" "$mirror" >"$base.log" 2>&1 || {
    tail "$base.log" >&2
    return 1
  }
  # This installation need not survive a power cut.
  echo force-unsafe-io >"$base/etc/dpkg/dpkg.cfg.d/test"
}

# Makes the cached file system of a bare Debian with an init, once.
make_base() {
  local base=$1
  [ ! -e "$base/.complete" ] || return 0
  bootstrap "$base" "$bare_packages"
  # What belongs to hardware, to the kernel of this machine or to a network.
  local unit
  for unit in systemd-udevd.service systemd-sysctl.service systemd-modules-load.service sys-kernel-debug.mount \
    sys-kernel-tracing.mount sys-fs-fuse-connections.mount apt-daily.timer apt-daily-upgrade.timer; do
    ln -sf /dev/null "$base/etc/systemd/system/$unit"
  done
  touch "$base/.complete"
}

# The machine of a name is the one that commands are for.
on() {
  machine=$1
  root=$machines/$machine/root
}

# Makes a machine of a name: a writable layer over the base.
make_machine() {
  local base=$1
  on "$2"
  local folder=$machines/$machine
  mkdir -p "$folder/upper" "$folder/work" "$folder/cgroup" "$root"
  mount -t overlay overlay -o "lowerdir=$base,upperdir=$folder/upper,workdir=$folder/work" "$root"
  mount -t cgroup2 cgroup2 "$folder/cgroup"
  echo "$machine" >"$root/etc/hostname"
  echo "127.0.0.1 localhost $machine" >"$root/etc/hosts"
  booted[$machine]=
}

# Downloads packages with all that they need into the machine's cache, since the booted machine has no network.
download() {
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  chroot "$root" apt-get update -qq
  chroot "$root" apt-get install -qq --yes --download-only "$@" >/dev/null
}

# Replaces this process by the first one of the machine, in namespaces of its own, more of them by options of unshare(1), which end with --.
# Folders of this machine are also the machine's: those of `shared`, each as SOURCE:TARGET.
shared=()
first_process() {
  local cgroup=$machines/$machine/cgroup/take5-$machine.$$ options=()
  while [ "$1" != -- ]; do
    options+=("$1")
    shift
  done
  mkdir "$cgroup" "$cgroup/shell"
  # The cgroup is the root of those that its processes make.
  exec bash -euc 'echo $$ >"$1/cgroup.procs"; shift; exec unshare --mount --uts --ipc --pid --cgroup --fork --kill-child "$@"' bash \
    "$cgroup" "${options[@]}" -- bash -euc '
    root=$1 shared=$2
    shift 3
    ip link set lo up
    mount --make-rprivate /
    mount --bind "$root" "$root"
    for folder in $shared; do
      mkdir -p "$root${folder#*:}"
      mount --bind "${folder%%:*}" "$root${folder#*:}"
    done
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
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
  ' bash "$root" "${shared[*]}" "$@"
}

# Boots the machine, and waits until its units have started. A folder of this machine becomes its /var/lib/take5.
boot() {
  local console=$machines/$machine/console.log
  shared=(${1:+"$1:/var/lib/take5"})
  first_process --net -- container=take5-test /sbin/init </dev/null >"$console" 2>&1 &
  booted[$machine]=$!
  for _ in $(seq 600); do
    init[$machine]=$(pgrep --parent "${booted[$machine]}" | head -n 1) && [ -n "${init[$machine]}" ] &&
      inside systemctl is-system-running --wait >/dev/null 2>&1 && return
    [ "$(inside systemctl is-system-running 2>/dev/null)" != degraded ] || return 0
    [ -d "/proc/${booted[$machine]}" ] || break
    sleep 0.1
  done
  echo "the machine $machine did not boot:" >&2
  cat "$console" >&2
  return 1
}

# Runs a command in the booted machine, in a cgroup of its own.
inside() {
  bash -c 'echo $$ >"$1"; shift; exec nsenter "$@"' bash "$machines/$machine/cgroup/take5-$machine.$$/shell/cgroup.procs" --target "${init[$machine]}" --mount --uts --ipc --net --pid --cgroup --root -- \
    env -i --chdir=/ PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

# A cable between two booted machines. The first one has the address 10.0.0.1, the second one 10.0.0.2.
connect() {
  local number=0 name
  # The program of the machine, and the processes of this one.
  nsenter --target "${init[$1]}" --mount --net -- ip link add cable type veth peer name cable netns "${init[$2]}"
  for name in "$1" "$2"; do
    number=$((number + 1))
    on "$name"
    inside ip address add "10.0.0.$number/24" dev cable
    inside ip link set cable up
  done
}

# Ends a machine with all of its processes, and removes its layer.
end_machine() {
  on "$1"
  local cgroup=$machines/$machine/cgroup
  [ -z "${booted[$machine]}" ] || { kill -KILL "${booted[$machine]}" 2>/dev/null && wait "${booted[$machine]}" 2>/dev/null; } || true
  umount -R "$root" 2>/dev/null || umount -l "$root" 2>/dev/null || true
  # Once its last process has ended.
  for _ in $(seq 50); do
    find "$cgroup/take5-$machine.$$" -depth -type d -exec rmdir {} + 2>/dev/null || true
    [ -d "$cgroup/take5-$machine.$$" ] || break
    sleep 0.1
  done
  umount "$cgroup" 2>/dev/null || true
  rm -rf "${machines:?}/$machine"
  unset "booted[$machine]" "init[$machine]"
}

# Ends all machines.
end_machines() {
  local name
  for name in "${!booted[@]}"; do end_machine "$name"; done
}
