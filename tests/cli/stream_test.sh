# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# fit --stream: files of more rows than are searched, beside the fit of the same rows in memory, and what it refuses; predict --stream
# and update beside those of all rows at once.
# Usage: stream_test.sh MERCER FOLDER
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1
rm -rf "$2/scratch" && mkdir -p "$2/scratch" && cd "$2/scratch" || exit 1
. "$here/black_box.sh"

# The honest score in ./out is at least this.
honest() {
  local reached
  reached=$(sed -n 's/^honest score: \(R^2\|accuracy\) \([-0-9.e]*\).*/\2/p' out)
  awk -v reached="$reached" -v least="$1" 'BEGIN { exit !(reached != "" && reached + 0 >= least) }' ||
    complain "$2: honest score '$reached', expected at least $1"
}

# In the order of an input: the first rows alone would hide most of the function. A column of text, one to leave out.
{ echo a,b,kind,id,y
  rows 200000 'a = i / 100000 - 1; b = uniform(); k = uniform() < 0 ? "red" : "blue"
               printf "%.5f,%.5f,%s,%d,%.5f\n", a, b, k, i, sin(3 * a) + b * b + (k == "red") + .1 * uniform()'; } >train.csv
[ "$(tail -n 1 train.csv | cut -d, -f1)" = 1.00000 ] || complain "rows are not in order: $(tail -n 1 train.csv)"
fast="--fast --features 128 --ignore id"
accepts "$MERCER" fit train.csv -o streamed $fast --stream
honest 0.98 "a streamed fit"
contains '^fitted: 190000 rows' fit
contains '^honest score.*(10000 rows' "honest score"
contains '^input kind: text in 2 columns' "text"
accepts "$MERCER" score streamed train.csv
cp out streamed_score
accepts "$MERCER" fit train.csv -o whole $fast
accepts "$MERCER" score whole train.csv
r2() { sed -n 's/.*R^2 *\([0-9.]*\).*/\1/p' "$1" | head -n 1; }
awk -v a="$(r2 streamed_score)" -v b="$(r2 out)" 'BEGIN { exit !(a > .9 && a - b < .005 && b - a < .005) }' ||
  complain "R^2 $(r2 streamed_score) of the streamed fit, $(r2 out) of the fit in memory"
head -n 2001 train.csv >few.csv
accepts "$MERCER" fit few.csv -o one $fast
accepts "$MERCER" fit few.csv -o other $fast --stream
cmp -s one other || complain "a file of one block gave another model by --stream"

# Memory does not grow with the file, but for a sample of up to 2^20 targets, 40 bytes each and as many to sort them. In memory
# 600,000 rows take 30 MB more.
if [ -x /usr/bin/time ]; then
  peak() { /usr/bin/time -f %M -o peak "$@" >out 2>err && cat peak; }
  { cat train.csv; tail -n +2 train.csv; tail -n +2 train.csv; } >thrice.csv
  once=$(peak "$MERCER" fit train.csv -o model $fast --stream)
  thrice=$(peak "$MERCER" fit thrice.csv -o model $fast --stream)
  held=$(peak "$MERCER" fit thrice.csv -o model $fast)
  [ "$held" -ge $((thrice + 15000)) ] || complain "$held KiB for 600,000 rows in memory, $thrice streamed"
  [ "$thrice" -le $((once + 45000)) ] || complain "$thrice KiB for 600,000 rows, $once for 200,000"
fi

# Classes of text in quoted fields with line breaks, no header.
awk -F, 'NR > 1 { printf "%s,%s,\"a\n%s\"\n", $1, $2, ($5 > 1) ? "high" : "low" }' train.csv >classes.csv
accepts "$MERCER" fit classes.csv -o classes --fast --features 64 --stream
honest 0.75 "classes"
contains '^task: classification, 2 classes' fit

# Predictions block by block are those of the file to rounding, from a pipe too.
alike() { paste -d, "$1" "$2" | awk -F, 'NR > 1 && ($2 - $(NF / 2 + 2))^2 > 1e-20 { exit 1 }' && [ "$(wc -l <"$1")" -eq "$(wc -l <"$2")" ]; }
accepts "$MERCER" predict whole train.csv --id id -o all.csv
accepts "$MERCER" predict whole train.csv --id id -o blocks.csv --stream
alike all.csv blocks.csv || complain "predictions block by block differ"
"$MERCER" predict --stream whole - --id id <train.csv >piped.csv 2>err || complain "a pipe: $(cat err)"
alike all.csv piped.csv || complain "predictions of a pipe differ"
accepts "$MERCER" predict classes classes.csv -o all.csv --probabilities
accepts "$MERCER" predict classes classes.csv -o blocks.csv --probabilities --stream
alike all.csv blocks.csv || complain "classes block by block differ"
awk -F, 'NR == 150001 { print "0.5,what,red,7,1"; next } 1' train.csv >strange.csv
refuses 'strange.csv.*:150001:2: .*what' "$MERCER" predict whole strange.csv -o result.csv --stream
refuses '--explain with --stream' "$MERCER" predict whole few.csv -o result.csv --stream --explain

# A model of half of the rows, and the others.
awk 'NR == 1 || NR % 2' few.csv >odd.csv
awk 'NR == 1 || NR % 2 == 0' few.csv >even.csv
accepts "$MERCER" fit odd.csv -o half $fast --lambda 1e-4 --keep sums
accepts "$MERCER" update half even.csv -o both
contains '^added 1000 rows: a model of 2000' update
accepts "$MERCER" update both even.csv -o again --remove
accepts "$MERCER" predict half even.csv --id id --extrapolation free -o first.csv
accepts "$MERCER" predict again even.csv --id id --extrapolation free -o second.csv
alike first.csv second.csv || complain "rows added and removed leave other predictions"
refuses 'keeps no sums' "$MERCER" update one even.csv -o result
refuses 'millionth' "$MERCER" update half odd.csv -o result --remove
refuses 'decay' "$MERCER" update half even.csv -o result --decay 2

# Failures name lines of the file.
refuses 'strange.csv.*:150001:2: .*what' "$MERCER" fit strange.csv -o result $fast --stream
for option in --ordered "--test-fraction .2" "--report result.json" "--groups id"; do
  refuses "${option%% *} with --stream" "$MERCER" fit train.csv -o result $fast --stream $option
done
refuses 'standard input.*read more than once' "$MERCER" fit - -o result $fast --stream <few.csv
gzip -c few.csv >few.gz
refuses 'few.gz: packed by gzip' "$MERCER" fit few.gz -o result $fast --stream
refuses 'absent.csv' "$MERCER" fit absent.csv -o result --stream
finish
