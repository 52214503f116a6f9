#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Runs the recipes against an installed copy: programs in C and Python, the services in Rust and Go with a model that Python fits.
# Usage: recipes.sh CC PYTHON SOURCE_DIR BUILD_DIR SCRATCH_DIR
set -euo pipefail
cc=$1 python=$2 source=$3 build=$4 scratch=$5
"$python" -c 'import numpy, sklearn' 2> /dev/null || { echo "SKIPPED: no python3-sklearn"; exit 0; }
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
cmake --install "$build" --prefix "$scratch/prefix" > install.log
libraries=$(dirname "$(find "$scratch/prefix" -name libmercer.so)")
export PKG_CONFIG_PATH=$libraries/pkgconfig LD_LIBRARY_PATH=$libraries MERCER_LIBRARY=$libraries/libmercer.so OPENBLAS_NUM_THREADS=1
PYTHONPATH=$(dirname "$(find "$scratch/prefix" -type d -path '*dist-packages/mercer')")
export PYTHONPATH
clients=$(pkg-config --variable=clients mercer)

# recipe NAME: its text. A recipe that nobody runs is a fault.
recipe() { awk -v name="$1" '/^```/ && $2 == name { on = 1; next } /^```$/ { on = 0 } on' "$source/capi/RECIPES.md"; }
mapfile -t names < <(sed -n 's/^```[a-z]* \(.*\)/\1/p' "$source/capi/RECIPES.md")
[ "${#names[@]}" = 16 ]
[ "$(grep -c '^## ' "$source/capi/RECIPES.md")" = 14 ]

"$python" -c '
import mercer, numpy as np
X = np.random.default_rng(1).normal(size=(2500, 3))
mercer.Model({"lambda": 1e-3, "map": {"features": 64}, "search": False}, X, X[:, 0]).save("model.mercer")
print(mercer.Model.load("model.mercer").predict(np.array([[0.5, -1, 0]]))[0, 0])' > expected
near() { awk -v a="$(cat expected)" -v b="$1" 'BEGIN { exit !(b != "" && a - b < 1e-5 && b - a < 1e-5) }'; }

for name in "${names[@]}"; do
  echo "== $name"
  recipe "$name" > "$name"
  [ -s "$name" ]
  case $name in
    *.c)
      # shellcheck disable=SC2046
      $cc "$name" $(pkg-config --cflags --libs mercer) -lm -o "${name%.c}"
      "./${name%.c}"
      [ "$name" != stream.c ] || [ "$(./stream)" = "$(rm rows.bin && ./stream)" ] ;;  # of a file found, and of one made
    *_layer.py)
      "$python" -c "import ${name%_layer.py}" 2> /dev/null || { echo "without ${name%_layer.py}"; continue; }
      "$python" -B "$name" ;;
    *.py) "$python" -B "$name" ;;
    *.rs)
      command -v cargo > /dev/null || { echo "without cargo"; continue; }
      mkdir -p rust_service/src
      cp -r "$clients/rust" crate  # cargo writes beside its sources
      mv "$name" rust_service/src/main.rs
      printf '[package]\nname = "service"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nmercer = { path = "../crate" }\n' > rust_service/Cargo.toml
      (cd rust_service && cargo build -q --offline)
      said=$(printf '0.5 -1 0\n1 2\n' | rust_service/target/debug/service model.mercer)
      near "${said%%$'\n'*}"
      grep -q "error: mercer_model_predict" <<< "$said" ;;
    *.go)
      command -v go > /dev/null && command -v curl > /dev/null || { echo "without go or curl"; continue; }
      mkdir go_service
      mv "$name" go_service
      printf 'module service\ngo 1.19\nrequire mercer v0.0.0\nreplace mercer => %s\n' "$clients/go" > go_service/go.mod
      (cd go_service && GOCACHE=${scratch}_cache go build -o ../service .)
      port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
      ./service model.mercer "127.0.0.1:$port" &
      trap 'kill $!' EXIT
      ask() { curl -s --retry 20 --retry-connrefused --retry-delay 1 -d "$1" "http://127.0.0.1:$port/predict"; }
      near "$(ask '[0.5, -1, 0]' | tr -d '[]')"
      ask '[1, 2]' | grep -q mercer_model_predict ;;
  esac
done
