#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Installs the packages, but for those of MPI, into a Debian that has nothing else, and does there what README of the clients says, from empty folders;
# then removes them and finds nothing left. Usage: clean_machine.sh FOLDER_OF_PACKAGES
set -euo pipefail
for tool in mmdebstrap gpgv; do
  command -v $tool > /dev/null || { echo "SKIPPED: no $tool"; exit 0; }
done
[ -n "$(find "$1" -maxdepth 1 -name "*.deb")" ] || { echo "SKIPPED: no packages in $1"; exit 0; }
[ "$(id -u)" = 0 ] || { echo "SKIPPED: chroot is root's"; exit 0; }

run() { printf 'chroot "$1" sh -ec %q' "export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root; $1"; }
files='find / -xdev -not -path "/proc/*" -not -path "/sys/*" -not -path "/tmp/*" -not -path "/var/*" -not -path "/root/*" -not -path /etc/ld.so.cache | sort'
mmdebstrap --variant=minbase --format=null --aptopt='Apt::Key::gpgvcommand "/usr/bin/gpgv"' \
  --include=g++,pkg-config,cargo,golang-go,python3-numpy,libopenblas0,liblapacke,libfftw3-double3,libfftw3-single3,libhwy1,libtbb12 \
  --customize-hook="mkdir \"\$1/tmp/packages\" && cp $(printf %q "$1")/*.deb \"\$1/tmp/packages\" && rm -f \"\$1/tmp/packages/\"*mercer-{mpi,scalapack}*" \
  --customize-hook="$(run "$files > /tmp/before")" \
  --customize-hook="$(run 'dpkg -i /tmp/packages/*.deb')" \
  --customize-hook="$(run 'cd $(mktemp -d) && $(pkg-config --variable=clients mercer)/run "$PWD" c cpp rust go python')" \
  --customize-hook="$(run 'mercer doctor && python3 -c "import mercer"')" \
  --customize-hook="$(run "dpkg --purge mercer-tools python3-mercer libmercer-dev libmercer0.1 && $files | diff /tmp/before -")" \
  "${2:-bookworm}" /dev/null
