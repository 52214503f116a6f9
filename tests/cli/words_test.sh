# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Words of the command line: lists of columns, typing errors and what they were meant to be, order of output and error.
# Usage: words_test.sh MERCER FOLDER
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1
rm -rf "$2/scratch" && mkdir -p "$2/scratch" && cd "$2/scratch" || exit 1
. "$here/black_box.sh"

{ echo id,x,u,v,z; rows 60 'x = uniform(); print i "," x "," 2 * x "," x * x "," (1 - x)'; } >train.csv
quick='--features 32 --lengthscale 2 --lambda 1e-4'

# Several columns: u,v or repeated, before the file or behind it.
for targets in '--target u,v train.csv' 'train.csv --target u,v' '--target u --target v train.csv' '--ignore id --target 3,4 train.csv'; do
  accepts "$MERCER" fit $targets -o model $quick
  contains 'target u, v (read' "$targets"
done
accepts "$MERCER" fit --ignore id,z train.csv -o model $quick --target u,v
contains '60 rows, 1 input, target u, v' "--ignore id,z"
refuses "'train.csv' was not expected" "$MERCER" fit --target u v train.csv -o result
accepts "$MERCER" predict model train.csv -o two.out
[ "$(head -n 1 two.out)" = u,v ] || complain "header $(head -n 1 two.out)"
{ echo x,note; echo 0.5,good; } >more.csv
refuses "more.csv:1:2: column 'note' is neither an input nor the target of the model (--ignore note leaves it out)" \
  "$MERCER" predict model more.csv -o result
accepts "$MERCER" predict model more.csv -o more.out --ignore note
# Columns that are passed through, unknown to the model or known.
{ echo id,x,note; echo 007,0.5,good; echo 8,0.25,'"so, so"'; } >named.csv
accepts "$MERCER" predict model named.csv -o named.out --id id --id note
[ "$(cut -d, -f1 named.out | tr '\n' ' ')" = 'id 007 8 ' ] || complain "--id: $(cat named.out)"
[ "$(head -n 1 named.out)" = id,note,u,v ] || complain "--id: $(cat named.out)"
grep -q '^8,"so, so",[0-9.-]*,[0-9.-]*$' named.out || complain "--id: $(cat named.out)"
accepts "$MERCER" predict model named.csv -o x.out --id x --ignore note
[ "$(cut -d, -f1 x.out | tr '\n' ' ')" = 'x 0.5 0.25 ' ] || complain "--id x: $(cat x.out)"
# As their texts, quoted where they need it.
{ echo 'id,x'; echo ' sp ,0.5'; echo '" in ",0.5'; echo '"a ""b"",c" ,0.5'; printf '\ttab,0.5\r\n'; echo ',0.5'; } >ids.csv
accepts "$MERCER" predict model ids.csv -o ids.out --id id
{ echo id; echo sp; echo '" in "'; echo '"a ""b"",c"'; echo tab; echo; } >expected
sed 's/,[^,]*,[^,]*$//' ids.out | cmp -s expected - || complain "--id: $(cat ids.out)"
sed 's/,\([^,]*\)$//; s/^/0.5,/; 1s/.*/x,id/; s/$/\r/' ids.csv >last.csv
accepts "$MERCER" predict model last.csv -o last.out --id id
cmp -s ids.out last.out || complain "--id, the last column: $(cat last.out)"
{ echo 'id;x'; echo ' 1,5 ;0.5'; } >semicolons.csv
accepts "$MERCER" predict model semicolons.csv -o semicolons.out --id id
grep -q '^"1,5",[0-9.-]*,[0-9.-]*$' semicolons.out || complain "--id: $(cat semicolons.out)"
refuses "--id 'ID2': no column of that name" "$MERCER" predict model named.csv -o result --id ID2
accepts "$MERCER" score model train.csv

# What was meant.
meant() { refuses "$@"; }
meant "'fti' is no command, .*; did you mean 'fit'?" "$MERCER" fti train.csv
meant "'fi' is no command, .*; did you mean 'fit'?" "$MERCER" fi
meant "'frobnicate' is no command, expected one of" "$MERCER" frobnicate --help
meant "--verison is no option of mercer; did you mean '--version'?" "$MERCER" --verison
meant "fit: --out is no option of fit; did you mean '--output'?" "$MERCER" fit train.csv --out result
meant "did you mean 'gaussian'?" "$MERCER" specs gauss
meant "fit: --features: expected a whole number from 1 to 2147483647, got 'abc'$" "$MERCER" fit train.csv -o result --features abc
meant "fit: --features 3, expected an even number for the form pair, such as 4" "$MERCER" fit train.csv -o result --features 3
meant "result-folder/model: No such file or directory: result-folder, the folder it would be written to" \
  "$MERCER" fit train.csv -o result-folder/model
head -c 3000 "$MERCER" >program.csv
meant "program.csv: a program" "$MERCER" fit program.csv -o result
tail -c +2 program.csv >bytes.csv
meant "bytes.csv: is not text, nor a .npy file" "$MERCER" fit bytes.csv -o result
# Who reads has gone: nothing is said.
{ "$MERCER" specs 2>err; echo $? >status; } | true
[ ! -s err ] || complain "a closed pipe is told: $(cat err)"
case $(cat status) in 0 | 141) ;; *) complain "a closed pipe ends with status $(cat status)" ;; esac
meant "'perdict' is no command, .*; did you mean 'predict'?" "$MERCER" perdict
meant "fit: --feature is no option of fit; did you mean '--features'?" "$MERCER" fit train.csv -o result --feature=64
meant "predict: --probability is no option of predict; did you mean '--probabilities'?" "$MERCER" predict model train.csv --probability
meant "fit: --hlep is no option of fit; did you mean '--help'?" "$MERCER" fit --hlep
meant "fit: --kernal is no option of fit; did you mean '--kernel'?" "$MERCER" fit --kernal matern train.csv -o result
meant "predict: 'train.csv' is no model, .* (MODEL comes first)" "$MERCER" predict train.csv model -o result
meant "score: 'train.csv' is no model, .* (MODEL comes first)" "$MERCER" score train.csv model
meant "'spare.csv' was not expected" "$MERCER" fit train.csv spare.csv -o result
meant "--target 'U2': no column of that name; the columns are id, x, u, v, z$" "$MERCER" fit train.csv -o result --target U2
meant "did you mean 'gaussian'?" "$MERCER" fit absent.csv -o result --kernel gausian
meant "did you mean 'sorf'?" "$MERCER" fit absent.csv -o result --map '{"map":"fourier","projection":"sorrf"}'
meant "did you mean 'projection'?" "$MERCER" fit absent.csv -o result --map '{"map":"fourier","projectoin":"sorf"}'
meant "did you mean 'lengthscale'?" "$MERCER" fit absent.csv -o result --kernel '{"kernel":"gaussian","lenghtscale":1}'
meant '--kernel fourier: this is a map: --map fourier' "$MERCER" fit absent.csv -o result --kernel fourier
meant '--map gaussian: this is a kernel: --kernel gaussian' "$MERCER" fit absent.csv -o result --map gaussian
meant "--map sorf: this is a projection: --map '{\"map\":\"fourier\",\"projection\":\"sorf\"}'" "$MERCER" fit absent.csv -o result --map sorf
meant "--kernel: malformed JSON at character 2 of '{kernel:matern}'; at a shell it stands in single quotes" \
  "$MERCER" fit absent.csv -o result --kernel '{kernel:matern}'
meant "'mattern' is no kernel, map, projection, model, bound or part of a fit; did you mean 'matern'?" "$MERCER" specs mattern
{ echo X,y; echo 1,2; } >test.csv
accepts "$MERCER" fit train.csv -o one $quick --target u --ignore id,v,z
meant "test.csv:1: no column 'x', which the model was fitted on; did you mean 'X'?" "$MERCER" predict one test.csv -o result

# Options in our own words, values as options; the status says whose fault it is.
meant "fit: --output: expected a value behind it$" "$MERCER" fit train.csv -o
meant "fit: --task: expected one of regression, classification, auto, got 'regresion'; did you mean 'regression'?$" \
  "$MERCER" fit train.csv -o result --task regresion
meant "fit: --test-fraction '20': .*; did you mean 0.2?$" "$MERCER" fit train.csv -o result --test-fraction 20
accepts "$MERCER" fit train.csv -o model --kernel rbf -D 32 --lengthscale 2 --lambda 1e-4 --target u
contains 'kernel gaussian, 32 features' "rbf and -D"
for case in '2 fit train.csv -o result --bogus' '2 fit train.csv' '2 fit train.csv -o result --kernel polka' '2 nope' \
  '2 fit train.csv -o result --target nosuch' '3 fit absent.csv -o result' '3 predict train.csv train.csv' '0 --help'; do
  "$MERCER" ${case#* } >out 2>err
  status=$?
  [ "$status" = "${case%% *}" ] || complain "${case#* }: status $status, expected ${case%% *}"
done
accepts "$MERCER" fit --help
for group in Data Preparation Model Results Run Examples; do contains "^$group:" "groups of help"; done

# What was printed stands before the error, in a pipe as well.
printf 'x,y\n1,2\n1,2\n1,2\n' >same.csv
"$MERCER" fit train.csv -o /nowhere/model >both 2>&1
"$MERCER" compare train.csv --features 33 >both 2>&1
tail -n 1 both | grep -q '^mercer: compare: ' || complain "the error is not the last line: $(cat both)"
{ printf 'x,y\n'; rows 30 'print i "," 1 + i % 2'; } >few.csv
"$MERCER" fit few.csv -o result --estimator logistic --task regression >both 2>&1
head -n 1 both | grep -q '^few.csv: 30 rows' || complain "output does not stand before the error: $(cat both)"
tail -n 1 both | grep -q '^mercer: fit: .*--estimator logistic' || complain "the error is not last: $(cat both)"
finish
