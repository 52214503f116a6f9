#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Runs the tests of cmake/debian/package in a Debian that has nothing but the packages in a folder and what they need: that of R where it is one of them.
# Usage: clean_machine.sh FOLDER_OF_PACKAGES SOURCE [SUITE]
set -euo pipefail
for tool in mmdebstrap gpgv; do
  command -v $tool > /dev/null || { echo "SKIPPED: no $tool"; exit 0; }
done
[ -n "$(find "$1" -maxdepth 1 -name "*.deb")" ] || { echo "SKIPPED: no packages in $1"; exit 0; }
[ "$(id -u)" = 0 ] || { echo "SKIPPED: chroot is root's"; exit 0; }

skipped=
[ -n "$(find "$1" -maxdepth 1 -name "r-cran-mercer*")" ] || skipped=--skip-test=r
into="mkdir -p \"\$1/tmp/source\" \"\$1/tmp/packages\" && cp $(printf %q "$1")/*.deb \"\$1/tmp/packages\""
into="$into && git -C $(printf %q "$2") archive HEAD cmake/debian/package capi tests/capi/python | tar x -C \"\$1/tmp/source\" && mv \"\$1/tmp/source/cmake/debian/package\" \"\$1/tmp/source/debian\""
mmdebstrap --variant=minbase --format=null --dpkgopt=force-unsafe-io --aptopt='Apt::Key::gpgvcommand "/usr/bin/gpgv"' --include=autopkgtest,ca-certificates,dpkg-dev \
  --customize-hook="$into" \
  --customize-hook="chroot \"\$1\" env LC_ALL=C.UTF-8 HOME=/root sh -c 'apt-get update -qq && autopkgtest $skipped /tmp/packages/*.deb /tmp/source/ -- null'" \
  "${3:-bookworm}" /dev/null
