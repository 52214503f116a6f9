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

# Memory does not grow with the file, but for a sample of up to 2^20 targets, 40 bytes each, doubled as it grows, and as many to
# sort them: 48 MB from 200,000 to 600,000 rows. In memory 600,000 rows take 30 MB more.
if [ -x /usr/bin/time ]; then
  peak() { /usr/bin/time -f %M -o peak "$@" >out 2>err && cat peak; }
  { cat train.csv; tail -n +2 train.csv; tail -n +2 train.csv; } >thrice.csv
  once=$(peak "$MERCER" fit train.csv -o model $fast --stream)
  thrice=$(peak "$MERCER" fit thrice.csv -o model $fast --stream)
  held=$(peak "$MERCER" fit thrice.csv -o model $fast)
  [ "$held" -ge $((thrice + 15000)) ] || complain "$held KiB for 600,000 rows in memory, $thrice streamed"
  [ "$thrice" -le $((once + 60000)) ] || complain "$thrice KiB for 600,000 rows, $once for 200,000"
fi

# Classes of text in quoted fields with line breaks, no header.
awk -F, 'NR > 1 { printf "%s,%s,\"a\n%s\"\n", $1, $2, ($5 > 1) ? "high" : "low" }' train.csv >classes.csv
accepts "$MERCER" fit classes.csv -o classes --fast --features 64 --stream
honest 0.75 "classes"
contains '^task: classification, 2 classes' fit

# Predictions block by block are those of the file to the last bit, from a pipe too.
alike() { paste -d, "$1" "$2" | awk -F, 'NR > 1 && ($2 - $(NF / 2 + 2))^2 > 1e-20 { exit 1 }' && [ "$(wc -l <"$1")" -eq "$(wc -l <"$2")" ]; }
accepts "$MERCER" predict whole train.csv --id id -o all.csv
accepts "$MERCER" predict whole train.csv --id id -o blocks.csv --stream
cmp -s all.csv blocks.csv || complain "predictions block by block differ"
"$MERCER" predict --stream whole - --id id <train.csv >piped.csv 2>err || complain "a pipe: $(cat err)"
cmp -s all.csv piped.csv || complain "predictions of a pipe differ"
accepts "$MERCER" predict classes classes.csv -o all.csv --probabilities
accepts "$MERCER" predict classes classes.csv -o blocks.csv --probabilities --stream
cmp -s all.csv blocks.csv || complain "classes block by block differ"
awk -F, 'NR == 150001 { print "0.5,what,red,7,1"; next } 1' train.csv >strange.csv
refuses 'strange.csv.*:150001:2: .*what' "$MERCER" predict whole strange.csv -o result.csv --stream
refuses '--explain with --stream' "$MERCER" predict whole few.csv -o result.csv --stream --explain

# Scores block by block are those of the file.
accepts "$MERCER" score whole train.csv
cp out scored
accepts "$MERCER" score whole train.csv --stream
cmp -s scored out || complain "scores block by block: $(diff scored out)"
accepts "$MERCER" score classes classes.csv
cp out scored
accepts "$MERCER" score classes classes.csv --stream
cmp -s scored out || complain "scores of classes block by block: $(diff scored out)"
refuses '--labels with --stream' "$MERCER" score whole train.csv --stream --labels few.csv

# Features block by block, and fits of the same numbers as an array and as text.
numbers="--ignore y,kind,id -D 6"
accepts "$MERCER" transform train.csv $numbers -o z.npy
accepts "$MERCER" transform train.csv $numbers -o blocks.npy --stream --write-map z.map
cmp -s z.npy blocks.npy || complain "features block by block differ"
accepts "$MERCER" transform train.csv $numbers -o z.csv --stream
refuses '--stream: .*text, column kind' "$MERCER" transform train.csv --ignore y -o result.csv --stream
accepts "$MERCER" fit z.npy -o array --fast --features 32 --stream
accepts "$MERCER" fit z.csv -o text --fast --features 32 --stream
contains '^fitted: 190000 rows' "rows of an array"
"$MERCER" predict array z.npy -o array.csv --stream >out 2>err || complain "an array: $(cat err)"
"$MERCER" predict text z.csv -o text.csv --stream >out 2>err || complain "text: $(cat err)"
near() { paste -d, "$1" "$2" | awk -F, 'NR > 1 && ($1 - $2)^2 > 1e-12 { exit 1 }'; }
near array.csv text.csv || complain "an array and its text gave other models"
"$MERCER" predict array - --stream <z.npy >piped.csv 2>err || complain "an array in a pipe: $(cat err)"
cmp -s array.csv piped.csv || complain "predictions of an array in a pipe differ"
array() { printf '\223NUMPY\1\0\106\0%-69s\n' "{'descr': '<f8', 'fortran_order': $1, 'shape': ($2, 6), }"; }
{ array False 1000; tail -c +129 z.npy | head -c 4800; printf '\0\0\0\0\0\0\370\177'; tail -c +4937 z.npy | head -c 43192; } >gap.npy
refuses 'gap.npy: row 101, column 1 is NaN' "$MERCER" fit gap.npy -o result --fast --stream
accepts "$MERCER" fit gap.npy -o one.npy.model --fast --features 16 --missing fill
accepts "$MERCER" fit gap.npy -o other.npy.model --fast --features 16 --missing fill --stream
cmp -s one.npy.model other.npy.model || complain "an array of one block gave another model by --stream"
head -c 1000000 z.npy >short.npy
refuses 'short.npy: truncated' "$MERCER" fit short.npy -o result --fast --stream
refuses 'short.npy: truncated\|standard input: truncated' "$MERCER" predict array - -o result.csv --stream <short.npy
{ array True 1; head -c 48 z.npy; } >fortran.npy
refuses "fortran.npy: an array in Fortran's order" "$MERCER" fit fortran.npy -o result --fast --stream

# libsvm, whose largest index one row alone has, and whose blocks say nothing of the others'.
awk -F, 'NR > 1 { printf "%s 1:%s", $5, $1; if ($2 > 0) printf " 2:%s", $2; print NR == 100000 ? " 4:1" : "" }' train.csv >rows.svm
accepts "$MERCER" fit rows.svm -o lines --fast --features 64 --stream
contains '^fitted: 190000 rows' "libsvm"
accepts "$MERCER" predict lines rows.svm -o all.csv
accepts "$MERCER" predict lines rows.svm -o blocks.csv --stream
paste -d, all.csv blocks.csv | awk -F, 'NR > 1 && ($1 - $2)^2 > 1e-20 { exit 1 }' || complain "libsvm block by block differs"
head -n 2000 rows.svm >few.svm
accepts "$MERCER" fit few.svm -o one.svm.model --fast --features 64
accepts "$MERCER" fit few.svm -o other.svm.model --fast --features 64 --stream
cmp -s one.svm.model other.svm.model || complain "a libsvm file of one block gave another model by --stream"
awk 'NR == 150000 { print "1 1:what"; next } 1' rows.svm >strange.svm
refuses "strange.svm:150000:2: 'what'" "$MERCER" fit strange.svm -o result --fast --stream

# Files of a pattern follow each other.
{ head -n 1 train.csv; sed -n 2,150001p train.csv; } >part-1.csv
{ head -n 1 train.csv; sed -n '150002,$p' train.csv; } >part-2.csv
accepts "$MERCER" fit 'part-*.csv' -o parts $fast --stream
"$MERCER" predict parts few.csv -o first.csv >out && "$MERCER" predict streamed few.csv -o second.csv >out
near first.csv second.csv || complain "two files gave another model than both in one"
{ echo a,b,kind,id,z; tail -n +2 part-2.csv; } >part-3.csv
refuses 'part-3.csv: columns .*z, expected .*y as in part-1.csv' "$MERCER" fit 'part-*.csv' -o result $fast --stream

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
accepts "$MERCER" info both
contains 'updated and has no honest score' "info of an updated model"

# One row, rows of labels alone, and a map that is made of all rows.
head -n 2 few.csv >lone.csv
refuses 'the data has 1 row' "$MERCER" fit lone.csv -o result $fast
refuses 'the data has 1 row' "$MERCER" fit lone.csv -o result $fast --stream
awk 'BEGIN { for (i = 1; i <= 200; i++) { k = i * 77 % 200; print ((k - 100)^2 > 2500), "1:" k / 200, "2:" (i % 7) / 7 } }' >listed.svm
printf '1\n0\n1\n' >labels.svm
accepts "$MERCER" fit listed.svm -o listed --fast --features 32 --lambda 1e-3 --quiet
for command in "predict listed labels.svm -o result" "score listed labels.svm" "fit labels.svm -o result"; do
  refuses 'labels.svm: no index:value entries in any row' "$MERCER" $command
  refuses 'labels.svm: no index:value entries in any row' "$MERCER" $command --stream
done
refuses '--stream: map nystroem is made from all rows, expected --read-map' "$MERCER" transform few.csv -o result.npy --stream --map nystroem --kernel gaussian --ignore id,kind

# Failures name lines of the file, also of a row in the sample.
awk -F, 'NR == 1500 { print "0.5,what,red,7,1"; next } 1' few.csv >strange_few.csv
refuses 'strange_few.csv:1500:2: .*what' "$MERCER" fit strange_few.csv -o result $fast --stream
refuses 'strange.csv.*:150001:2: .*what' "$MERCER" fit strange.csv -o result $fast --stream
for option in --ordered "--test-fraction .2" "--report result.json" "--groups id"; do
  refuses "${option%% *} with --stream" "$MERCER" fit train.csv -o result $fast --stream $option
done
refuses 'standard input.*read more than once' "$MERCER" fit - -o result $fast --stream <few.csv
gzip -c few.csv >few.gz
refuses 'few.gz: packed by gzip' "$MERCER" fit few.gz -o result $fast --stream
refuses 'absent.csv' "$MERCER" fit absent.csv -o result --stream
finish
