# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# mercer-mpi: the models of as many processes as are asked for beside that of one process, bit for bit again, and what all say where one
# fails. Usage: command_test.sh MERCER MERCER_MPI PROCESSES FOLDER MPIRUN...
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1 MERCER_MPI=$2 PROCESSES=$3 folder=$4
shift 4
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder" || exit 1
. "$here/../../cli/black_box.sh"
shared() { timeout 50 "${mpirun[@]}" "$MERCER_MPI" "$@"; }
mpirun=("$@")

# Rows in the order of an input; a text, of which one level is in the last part alone. Seven files, one of them without rows.
rows 60000 'a = i / 30000 - 1; b = uniform(); k = i > 59000 ? "rare" : uniform() < 0 ? "red" : "blue"
            printf "%.5f,%.5f,%s,%.5f\n", a, b, k, sin(3 * a) + b * b + (k == "blue") + .1 * uniform()' >rows
{ echo a,b,kind,y; cat rows; } >whole.csv
rows_of() { sed -n "$1,$2p" rows; }
part=0
for span in "1 1000" "1001 20000" "0" "20001 33333" "33334 50000" "50001 59999" "60000 60000"; do
  part=$((part + 1))
  { echo a,b,kind,y; [ "$span" = 0 ] || rows_of $span; } >part-$part.csv
done

# Predictions of ./$1 and ./$2 on the same rows, those of asked.csv or $4, are the same to a relative $3.
{ echo a,b,kind; awk 'NR % 97 == 0' rows | grep blue | cut -d, -f1-3; } >asked.csv
alike() {
  accepts "$MERCER" predict "$1" "${4:-asked.csv}" -o first.csv
  accepts "$MERCER" predict "$2" "${4:-asked.csv}" -o second.csv
  paste -d, first.csv second.csv | awk -F, -v most="$3" 'NR > 1 { d = $1 - $2; if (d < 0) d = -d; if (d > worst) worst = d; if ($1 > top) top = $1 }
    END { printf "%g\n", worst / top; exit !(top > 0 && worst <= most * top) }' >far || complain "$1 and $2 differ by $(cat far)"
}
# With a given lambda; where it is searched, it is found to some digits only.
fast="--fast --features 64 --lambda 1e-3 --quiet"
alone() { "$MERCER" fit "$@" $fast >out 2>err || complain "fit $*: $(cat err)"; }
alone 'part-?.csv' -o parts --stream
alone whole.csv -o whole --stream
alike parts whole 1e-12
shared fit 'part-?.csv' -o shared $fast >out 2>err || complain "parts: $(cat err)"
contains '^honest score' "score"
[ "$(wc -l <out)" -eq 1 ] || complain "several processes print: $(cat out)"
alike parts shared 1e-12
shared fit 'part-?.csv' -o again $fast >out 2>err || complain "parts again: $(cat err)"
cmp -s shared again || complain "the same processes gave other bits"
# One file: processes share its records, which have line breaks within quotes.
sed 's/red/"r,\n""ed"/' whole.csv >quoted.csv
alone quoted.csv -o quoted --stream
shared fit quoted.csv -o ranges $fast >out 2>err || complain "one file: $(cat err)"
alike quoted ranges 1e-12

# On a grid of frequencies, whose sums are made without features, in the order of a process's rows.
cut -d, -f1,2,4 whole.csv >two.csv
cut -d, -f1,2 asked.csv >asked_two.csv
fast="--fast --features 200 --lambda 1e-3 --quiet"
set -- --map '{"map":"fourier","projection":"grid"}'
alone two.csv -o grid --stream "$@"
shared fit two.csv -o grid_shared $fast "$@" >out 2>err || complain "grid: $(cat err)"
shared fit two.csv -o grid_again $fast "$@" >out 2>err || complain "grid again: $(cat err)"
alike grid grid_shared 1e-12 asked_two.csv
cmp -s grid_shared grid_again || complain "the same processes gave other bits on a grid"
fast="--fast --features 64 --lambda 1e-3 --quiet"

# Of fewer rows than are searched all are in the search.
head -n 2001 whole.csv >few.csv
alone few.csv -o few
shared fit few.csv -o few_shared $fast >out 2>err || complain "few rows: $(cat err)"
alike few few_shared 1e-12

# And lambda searched.
fast="--fast --features 64 --quiet"
alone whole.csv -o searched --stream
shared fit 'part-?.csv' -o shared $fast >out 2>err || complain "lambda searched: $(cat err)"
alike searched shared 1e-7

# Processes that are killed go on, the first one without what it had kept; all remove their files in the end.
slow="--fast --features 600 --lambda 1e-3 --quiet --checkpoint kept"
"${mpirun[@]}" "$MERCER_MPI" fit 'part-?.csv' -o killed $slow >out 2>err &
for tenth in $(seq 300); do
  sleep .1
  [ "$(ls kept.* 2>/dev/null | wc -l)" -eq "$PROCESSES" ] && sleep .4 && break
done
kill -9 $(ps -o pid= --ppid $!) 2>/dev/null
wait $!
[ ! -e killed ] || complain "mercer-mpi ended before it was killed"
for rank in $(seq 0 $((PROCESSES - 1))); do [ -s "kept.$rank" ] || complain "no kept.$rank after a kill"; done
rm kept.0
shared fit 'part-?.csv' -o killed $slow >out 2>err || complain "killed processes: $(cat err)"
ls kept.* >/dev/null 2>&1 && complain "left $(ls kept.*)"
shared fit 'part-?.csv' -o alone $slow >out 2>err || complain "slow: $(cat err)"
cmp -s killed alone || complain "killed processes gave other bits"

# Every process says what was wrong, and where.
fails() {
  local pattern=$1
  shift
  rm -f result
  shared "$@" -o result $fast >out 2>err
  local status=$?
  [ "$status" -ne 0 ] && [ "$status" -ne 124 ] || complain "$* ended with status $status: $(cat err)"
  [ "$(grep -c "^mercer-mpi: rank [0-9]: fit: $pattern" err)" -eq "$PROCESSES" ] || complain "$*: no '$pattern' of each process in: $(cat err)"
  [ ! -e result ] || complain "$* left a model"
}
mkdir bad && cp part-?.csv bad
sed '5000s/.*/0.1,what,blue,1/' part-2.csv >bad/part-2.csv
fails 'bad/part-2.csv:5000:2: .*what' fit 'bad/part-?.csv'
{ echo a,c,kind,y; rows_of 33334 50000; } >bad/part-5.csv && cp part-2.csv bad/part-2.csv
fails 'bad/part-5.csv: columns a, c, kind, y, expected columns a, b, kind, y as in bad/part-1.csv' fit 'bad/part-?.csv'
printf 'a,b,kind,y\n1,2,blue,3\n1,2,blue\n' >bad/part-5.csv
fails 'bad/part-5.csv:3: 3 fields, expected 4' fit 'bad/part-?.csv'
rm bad/part-5.csv && ln -s nowhere bad/part-5.csv
fails 'bad/part-5.csv: No such file' fit 'bad/part-?.csv'
fails 'absent.csv: No such file' fit absent.csv
fails "absent-\*.csv: no file" fit 'absent-*.csv'
finish
