# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# README's commands on real data, with the scores they must reach. Usage: real_data_test.sh MERCER FOLDER DATA NAME
# Ends with status 77 (skipped) where the data is not there.
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1
data=$3
name=$4
rm -rf "$2/scratch" && mkdir -p "$2/scratch" && cd "$2/scratch" || exit 1
. "$here/black_box.sh"
[ -d "$data/$name" ] || { echo "skipped: $data/$name is not there (set MERCER_DATA_DIR)"; exit 77; }

run() {
  echo "\$ mercer $*"
  local start=$SECONDS
  accepts "$MERCER" "$@"
  cat out
  echo "($((SECONDS - start)) s)"
}

case $name in
  kin40k)
    run fit "$data/kin40k/kin40k.csv" -o kin40k.mercer --features 4096 --test-fraction 0.1
    at_least 0.96 kin40k ;;
  letter)
    run fit "$data/letter/letter.csv" -o letter.mercer --features 4096 --test-fraction 0.2
    at_least 0.965 letter ;;
  mnist)
    # npy SHAPE SKIPPED FILE: the bytes of an IDX file behind its header as an array.
    npy() { printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': ($1), }"; gzip -dc "$3" | tail -c +$(($2 + 1)); }
    for part in train:60000 t10k:10000; do
      npy "${part#*:}, 784" 16 "$data/mnist/${part%:*}-images-idx3-ubyte.gz" >"${part%:*}.npy"
      npy "${part#*:}," 8 "$data/mnist/${part%:*}-labels-idx1-ubyte.gz" >"${part%:*}-labels.npy"
    done
    run fit train.npy --labels train-labels.npy --scale common -o mnist.mercer --features 8192
    run predict mnist.mercer t10k.npy --labels t10k-labels.npy -o mnist.csv
    at_least 0.975 mnist ;;
  *)
    complain "no such test: $name" ;;
esac
finish
