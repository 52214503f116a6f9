# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# README's commands on real data, with the scores they must reach. Usage: real_data_test.sh MERCER FOLDER DATA NAME
# Ends with status 77 (skipped) where the data is not there.
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1
data=$3
name=$4
rm -rf "$2" && mkdir -p "$2" && cd "$2" || exit 1
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
    run fit "$data/mnist/train-images-idx3-ubyte.gz" -o mnist.mercer --features 8192
    run predict mnist.mercer "$data/mnist/t10k-images-idx3-ubyte.gz" -o mnist.csv
    at_least 0.975 mnist ;;
  *)
    complain "no such test: $name" ;;
esac
finish
