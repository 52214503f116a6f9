#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Runs what the documents show: their C programs and every `sh` block in one scratch folder, against an installed copy, whose
# manual page is checked, too.
# Usage: readme_test.sh CC SOURCE_DIR BUILD_DIR SCRATCH_DIR [data DATA_DIR]   CC: what cc stands for, a compiler and its options.
# With `data`: the blocks on real data instead.
set -euo pipefail
cc=$1 source=$2 build=$3 scratch=$4 kind=${5:-} data=${6:-}
documents=("$source"/{README.md,capi/cli/MANUAL.md,capi/GUIDE.md,bench/README.md})
if [ "$kind" = data ] && [ ! -d "$data" ]; then
  echo "skipped: no data sets at $data"
  exit 77
fi
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
DESTDIR=$scratch/root cmake --install "$build" > install.log

# block LANGUAGE: the text of every fenced block of exactly that language.
block() { awk -v fence='```'"$1" '$0 == fence { on = 1; next } $0 == "```" { on = 0 } on' "${documents[@]}"; }

programs=$(dirname "$(find "$scratch/root" -name mercer -type f -path '*/bin/*' | head -n 1)")
libraries=$(dirname "$(find "$scratch/root" -name libmercer.so | head -n 1)")
mkdir bin
printf '#!/bin/bash\nexec %s "$@"\n' "$cc" > bin/cc
chmod +x bin/cc
export PATH="$scratch/bin:$programs:$PATH" MERCER_DATA_DIR=$data LD_LIBRARY_PATH="$libraries"
export PKG_CONFIG_PATH="$libraries/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$scratch/root"
block c > example.c
for name in map sketch drift; do block "c $name.c" > $name.c; done
block "sh${kind:+ $kind}" > commands.sh
[ -s example.c ] && [ -s map.c ] && [ -s sketch.c ] && [ -s commands.sh ]
bash -euxo pipefail commands.sh
# shellcheck disable=SC2046
cc drift.c $(pkg-config --cflags --libs mercer) -lm -o drift && ./drift | grep -q '"p_value":0\.0'

# Every command has a manual page; groff finds nothing to complain of. Bash completes commands, options and values.
[ -z "$kind" ] || exit 0
pages=$(dirname "$(find "$scratch/root" -name mercer.1)")
for command in $(mercer --help | sed -n '/^Subcommands:/,$s/^  \([a-z]*\) .*/\1/p'); do
  grep -q '^\\fBmercer '"$command" "$pages/mercer-$command.1"
done
for page in "$pages"/*; do
  ! command -v groff > /dev/null || grep -q '^[.]so ' "$page" || [ -z "$(groff -man -Tutf8 -K utf8 -ww "$page" 2>&1 > /dev/null)" ]
done
completed() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && _mercer && echo "${COMPREPLY[*]}"; }
source "$(find "$scratch/root" -path '*/bash-completion/completions/mercer')"
[ "$(completed mercer tr)" = transform ]
[ "$(completed mercer fit --no-s)" = --no-standardize ]
[ "$(completed mercer predict --class pr)" = probability ]

# The scores that they show are those of today. Only where awk draws the rows that were shown; libraries of linear algebra
# round differently.
for file in wave.csv:3998006227 wind.csv:4083523804; do
  name=${file%:*}
  if [ "$(cksum <"$name" | cut -d ' ' -f 1)" != "${file#*:}" ]; then
    echo "this awk draws another $name: scores are not compared"
    continue
  fi
  command=$(cat "${documents[@]}" | sed -n "s/^\\$ \(mercer fit $name .*\)/\1/p")
  shown=$(cat "${documents[@]}" | sed -n "/^\\$ mercer fit $name /,/^honest/s/^honest score: R^2 \([^ ]*\) .*/\1/p")
  reached=$($command | sed -n 's/^honest score: R^2 \([^ ]*\) .*/\1/p')
  awk -v shown="$shown" -v reached="$reached" \
    'BEGIN { exit !(shown != "" && reached - shown <= 1e-4 && shown - reached <= 1e-4) }' ||
    { echo "the documents show R^2 $shown for '$command', which is $reached"; exit 1; }
done
