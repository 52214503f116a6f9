# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Every class of error ends with status 2 or 3, one line naming the place, and no file. Usage: refusals_test.sh MERCER FOLDER
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1
rm -rf "$2/scratch" && mkdir -p "$2/scratch" && cd "$2/scratch" || exit 1
. "$here/black_box.sh"
use_own_temporary

{ echo x1,x2,y; rows 300 'a = uniform(); b = uniform(); print a "," b "," a + b'; } >good.csv
accepts "$MERCER" fit good.csv -o good.model --features 32
fit() { refuses "$1" "$MERCER" fit "${@:2}" -o result; }
predict() { refuses "$1" "$MERCER" predict "${@:2}" -o result; }

# Command line.
refuses 'no command, expected one of fit, cv, predict, score, update, compare, relevance, transform, recommend, mmd, kid, hsic, info, specs' "$MERCER"
refuses "'nope' is no command, expected one of fit, " "$MERCER" nope
refuses "'nope' is no command" "$MERCER" nope --help-me
refuses '--output is required' "$MERCER" fit good.csv
refuses 'TRAIN is required' "$MERCER" fit -o result
refuses 'bogus' "$MERCER" fit good.csv -o result --bogus
fit '--features' good.csv --features 0
fit '--features' good.csv --features many
fit '--features: given more than once' good.csv --features 32 --features 64
fit '--test-fraction' good.csv --test-fraction 2
fit '--test-fraction' good.csv --test-fraction 0.999
fit '--task' good.csv --task clustering
fit '--lengthscale .-3.' good.csv --lengthscale=-3
fit "--lambda 'x'" good.csv --lambda x
fit "--target 'z': no column" good.csv --target z
fit '--target 9: expected a column from 1 to 3' good.csv --target 9
fit '--test-fraction .nan.' good.csv --test-fraction nan
fit '--seed .-1.' good.csv --seed=-1
fit '--seed .18446744073709551616.: expected a whole number' good.csv --seed 18446744073709551616
fit '--seed .+7.' good.csv --seed +7
fit '--seed .7x.' good.csv --seed 7x
fit '--threads' good.csv --threads -1
fit 'polka' good.csv --kernel polka
fit 'polka' good.csv --map polka
# What is wrong with a spec is told before the rows are read.
fit 'kernel = "polka"' absent.csv --kernel polka
fit 'map = "polka"' absent.csv --map polka
fit 'unknown key "colour"' absent.csv --map '{"map":"fourier","colour":1}'
fit 'unknown key "colour"' absent.csv --map '{"map":"nystroem","colour":1}'
fit 'features 33' absent.csv --features 33
refuses 'kernel = "polka"' "$MERCER" compare absent.csv --kernel polka
fit 'absent.csv: No such file' absent.csv --map nystroem
# A landmark for each feature: good.csv has 300 rows, of which 240 are fitted on by compare.
refuses 'features 1000, expected at most 240' "$MERCER" compare good.csv --map nystroem --features 241,1000
fit '--kernel: malformed JSON' good.csv --kernel '{"kernel":'
fit 'colour' good.csv --kernel '{"kernel":"gaussian","colour":1}'
fit 'features' good.csv --features 33
fit '--task classification: the target of row 1 is' good.csv --task classification

# Files.
fit 'absent.csv: No such file' absent.csv
: >empty.csv
fit 'empty.csv: empty file' empty.csv
printf 'x,y\n1,2\n3,abc\n' >text.csv
fit "text.csv:3:2: 'abc' is not a number" text.csv
printf 'x,y\n1,2\n3\n' >ragged.csv
fit 'ragged.csv:3: 1 field, expected 2' ragged.csv
printf 'x,y\n1,2\n,4\n' >hole.csv
fit 'hole.csv:3:1: empty field' hole.csv
printf 'x,y\n1,2\nnan,4\n' >nan.csv
fit "nan.csv:3:1: 'nan'; missing values are refused" nan.csv
printf 'x,y\n1,2\n' >short.csv
fit 'short.csv\|rows\|n = 1' short.csv
gzip -c good.csv | head -c 400 >cut.csv.gz
fit 'cut.csv.gz: truncated gzip' cut.csv.gz
printf '1 2:1 1:1\n' >order.svm
fit 'order.svm:1:3: index 1 after 2' order.svm
printf '1 2000000000000:1\n' >huge.svm
fit 'huge.svm:1:2: index 2000000000000, expected at most 2147483647' huge.svm
printf '\0\0\10\3\0\0\0\11\0\0\0\1\0\0\0\2abc' >images-idx3-ubyte
fit 'images-idx3-ubyte: an IDX file: save it as .npy' images-idx3-ubyte
printf 'not an array' >bad.npy
fit 'bad.npy: not an npy file' bad.npy
printf '\223NUMPY\1\0\106\0%-69s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2, 2), }" >cube.npy
printf '12345678' >>cube.npy
fit 'cube.npy: shape (2, 2, 2), expected (rows, columns)' cube.npy
fit 'good.csv: ' good.csv --labels good.csv
refuses '/nowhere/model' "$MERCER" fit good.csv --features 16 --quiet -o /nowhere/model

# A place that cannot hold a result is refused before the work: nothing is printed of it.
before() {
  refuses "$@"
  [ ! -s out ] || complain "$* had begun: $(cat out)"
}
mkdir folder
ln -s round round
before 'folder: Is a directory' "$MERCER" fit good.csv -o folder
before 'round: Too many levels of symbolic links' "$MERCER" fit good.csv -o round
before 'File name too long' "$MERCER" fit good.csv -o "$(printf 'n%.0s' $(seq 256))"
before 'folder: Is a directory' "$MERCER" predict good.model good.csv -o folder

# Models and tests.
predict 'absent.model' absent.model good.csv
predict 'text.csv' text.csv good.csv
head -c 500 good.model >cut.model
predict 'cut.model' cut.model good.csv
head -c 300 /dev/zero >zeros.model
predict 'zeros.model' zeros.model good.csv
printf '1,2,3,4\n' >wide.csv
predict "wide.csv: 4 columns, expected the model's 2 inputs" good.model wide.csv
printf 'x1,z\n1,2\n' >other.csv
predict "other.csv:1: no column 'x2'" good.model other.csv
printf 'x1,x2\n1,2\n' >features.csv
predict '--scores: the model is a regression' good.model good.csv --scores
predict '--probabilities: the model is a regression' good.model good.csv --probabilities
refuses 'no target' "$MERCER" score good.model features.csv
refuses '--estimator logistic in a search of a regression, expected --task classification' "$MERCER" fit good.csv -o no.model --estimator logistic
predict 'standard input' - -
refuses '/nowhere/out.csv: No such file' "$MERCER" predict good.model good.csv -o /nowhere/out.csv
refuses 'cut.model' "$MERCER" info cut.model
refuses 'FILE: info describes a file, not standard input' "$MERCER" info -
cat zeros.model | "$MERCER" predict - good.csv -o result >out 2>err && complain "predict of zeros: $(cat out)"
grep -q '^mercer: predict: standard input: begins with other bytes, expected a mercer file' err || complain "predict of zeros said '$(cat err)'"
refuses 'polka' "$MERCER" specs polka
refuses '--features' "$MERCER" compare good.csv --features 0,12
printf '1,2\n3,4\n' >tiny.csv
refuses 'at least 5' "$MERCER" compare tiny.csv

# Ctrl-C while the search runs: the message, status 130, no model.
{ echo x1,x2,y; rows 20000 'a = uniform(); b = uniform(); print a "," b "," sin(9 * a) * b'; } >large.csv
rm -f result*
"$MERCER" fit large.csv -o result --features 8192 >out 2>err &
running=$!
for _ in $(seq 600); do
  grep -q coarse out && break
  sleep 0.1
done
kill -INT "$running"
wait "$running"
status=$?
[ "$status" -eq 130 ] || complain "interrupted fit ended with status $status, expected 130: $(cat err)"
[ "$(cat err)" = "mercer: fit: interrupted" ] || complain "interrupted fit said '$(cat err)'"
ls result* >/dev/null 2>&1 && complain "interrupted fit left $(ls result*)"

# A reader that goes away ends the command without a word, with the status of one that SIGPIPE ended.
"$MERCER" predict good.model good.csv -o - 2>err | true
status=${PIPESTATUS[0]}
[ "$status" -eq 0 ] || [ "$status" -eq 141 ] || complain "a closed pipe ended predict with status $status"
[ ! -s err ] || complain "a closed pipe: predict said '$(cat err)'"
ls -d .mercer-* "$TMPDIR"/* >left 2>/dev/null
[ ! -s left ] || complain "temporary files are left: $(cat left)"
printf 'a;b\n1,5;2,5\n2,25;3,5\n0,5;1,5\n' >commas.csv
accepts "$MERCER" transform commas.csv -D 4 --decimal comma -o commas.npy
refuses '--seed: is of --samples' "$MERCER" predict good.model good.csv --seed 3
refuses '--interval 0: expected a number > 0' "$MERCER" predict no.model good.csv --interval 0
finish
