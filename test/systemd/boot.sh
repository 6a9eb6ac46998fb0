#!/bin/sh
# Boots a systemd that has nothing of this machine but its programs to read. Run in namespaces of its own (pid, mount,
# cgroup, uts, ipc); systemd would empty /tmp and more of the machine itself, were these not away from it.
# $1: an empty folder, the new root. $2: the checkout. $3: its modules. $4: the node that runs it. $5: a folder that the
# test shares with what runs inside, as /srv/stage. $6: a folder that holds a whole system; then that is booted, and it keeps
# what is written, instead of this machine's programs with the checkout.
set -eu
root=$1
mount --make-rprivate /
mount --bind "${6:-/}" "$root"
if [ -z "${6-}" ]; then mount -o remount,bind,ro "$root"; fi
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount --rbind /dev "$root/dev"
# What it says is not for the machine's console.
mount --bind /dev/null "$root/dev/console"
if [ -e /dev/kmsg ]; then mount --bind /dev/null "$root/dev/kmsg"; fi
mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
for folder in tmp var/tmp; do
  mount -t tmpfs -o mode=1777 tmpfs "$root/$folder"
done
if [ -z "${6-}" ]; then
  for folder in var/lib var/log opt srv home etc; do
    mount -t tmpfs -o mode=755 tmpfs "$root/$folder"
  done
  cp -a /etc/passwd /etc/group /etc/shadow /etc/gshadow /etc/nsswitch.conf /etc/ld.so.* "$root/etc/"
  for more in pam.d security alternatives ssl localtime; do
    if [ -e "/etc/$more" ]; then cp -a "/etc/$more" "$root/etc/"; fi
  done
  mkdir -p "$root/opt/albumd"
  for part in dist systemd node_modules; do mkdir "$root/opt/albumd/$part"; done
  touch "$root/opt/node" "$root/opt/albumd/package.json"
  mount --bind "$2/dist" "$root/opt/albumd/dist"
  mount --bind "$2/systemd" "$root/opt/albumd/systemd"
  mount --bind "$2/package.json" "$root/opt/albumd/package.json"
  mount --bind "$3" "$root/opt/albumd/node_modules"
  mount --bind "$4" "$root/opt/node"
fi
echo 0123456789abcdef0123456789abcdef > "$root/etc/machine-id"
mkdir -p "$root/etc/systemd/system" "$root/srv/stage"
printf '[Unit]\nDefaultDependencies=no\n' > "$root/etc/systemd/system/test.target"
mount --bind "$5" "$root/srv/stage"

cd "$root"
pivot_root . .
umount -l .
cd /
# Nothing of these mounts reaches the machine any more. A service's credentials come by one that must reach its own.
mount --make-rshared /
for systemd in /lib/systemd/systemd /usr/lib/systemd/systemd; do
  if [ -x "$systemd" ]; then
    exec env -i container=unshare PATH=/usr/sbin:/usr/bin:/sbin:/bin \
      "$systemd" --system --unit=test.target --log-target=null --show-status=no
  fi
done
