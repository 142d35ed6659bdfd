# shellcheck shell=bash
# A podman with a storage of its own, whose images and containers are gone afterwards. run.sh reads this file.
#
# On a machine with systemd, podman runs as it is installed. On a machine without it that has no right to raise limits, as one inside of
# a sandbox, containers get no cgroup and lower limits, and nothing repeats their health checks.

# Commands of this shell that begin with podman use the storage in a folder.
start_podman() {
  local folder=$1
  storage=$folder/storage
  mkdir -p "$storage"
  export CONTAINERS_STORAGE_CONF=$folder/storage.conf CONTAINERS_CONF=$folder/containers.conf
  printf '[storage]\ndriver = "overlay"\nrunroot = "%s/run"\ngraphroot = "%s/graph"\n' "$storage" "$storage" >"$CONTAINERS_STORAGE_CONF"
  echo '[containers]' >"$CONTAINERS_CONF"
  # crun refuses hierarchies of both versions; the mounts are those of this namespace.
  [ -d /run/systemd/system ] || { umount --recursive --lazy /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup; }
  [ -d /run/systemd/system ] || cat >>"$CONTAINERS_CONF" <<CONF
cgroups = "disabled"
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
CONF
  cat >>"$CONTAINERS_CONF" <<CONF
[secrets.opts]
path = "$storage/secrets"
[network]
network_backend = "netavark"
network_config_dir = "$storage/networks"
CONF
}

stop_podman() {
  podman rm --all --force --time 0 >/dev/null 2>&1 || true
  podman network prune --force >/dev/null 2>&1 || true
  podman volume prune --force >/dev/null 2>&1 || true
  umount "$storage/graph/overlay" 2>/dev/null || true
}
