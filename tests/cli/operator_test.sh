# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Targets that belong together: --operator of fit and cv, targets with gaps, and what the other commands make of such models. Usage: operator_test.sh MERCER FOLDER
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1
rm -rf "$2/scratch" && mkdir -p "$2/scratch" && cd "$2/scratch" || exit 1
. "$here/black_box.sh"

# A vortex under a steady wind, which has no sources.
vortex='a = uniform(); b = uniform(); e = exp(-2 * (a * a + b * b)); print a "," b "," 3 - 2 * b * e "," 2 * a * e - 1'
{ echo x,y,u,v; rows 150 "$vortex"; } >wind.csv
{ echo x,y,u,v; rows 250 "$vortex" | tail -n 100; } >test.csv

accepts "$MERCER" fit wind.csv -o model --target u --target v --operator divergence_free --features 100 \
  --test-fraction 0.2 --report report.json --report report.html
at_least 0.99 "divergence_free"
contains '^fitted: 120 rows, kernel divergence_free of gaussian, 100 features of map fourier, lengthscale [0-9.]*, lambda [0-9.e-]*, [0-9.]* s$' fit
contains '^honest score: R^2 \(1\.0\|0\.99\).* (120 rows, each by a search that had not seen it)$' "honest score"
contains '^on the same rows: mean -\?0\.0[0-9]*, linear ridge 0\.' "baselines"
contains '^ *stage *kernel *features *rows *lengthscale *lambda *shape *R^2' "table of the search"
grep -q '^warning' out && complain "a good fit was warned of: $(cat out)"
grep -q '"learning_curve":' report.json || complain "no learning curve in $(cat report.json)"
grep -q 'divergence_free of gaussian' report.html || complain "no kernel on the page"
accepts "$MERCER" predict model test.csv -o predicted.csv
at_least 0.99 "prediction of both targets"
[ "$(head -n 1 predicted.csv)" = u,v ] || complain "header '$(head -n 1 predicted.csv)', expected u,v"
[ "$(wc -l <predicted.csv)" -eq 101 ] || complain "$(wc -l <predicted.csv) lines of predictions, expected 101"
accepts "$MERCER" score model test.csv
contains '^R^2 of v  *0\.99\|^R^2 of v  *1' "score of a target"
accepts "$MERCER" info model
contains 'kernel  *divergence_free' "info: kernel"
contains 'scale  *common' "info: one unit for all inputs"
accepts "$MERCER" relevance model test.csv
contains '^x  *[0-9.]* #' relevance
accepts "$MERCER" predict model test.csv -o free.csv --extrapolation free
at_least 0.99 "prediction without limits"
"$MERCER" fit wind.csv -o - --target u,v --operator divergence_free --features 100 --quiet 2>err |
  "$MERCER" predict - test.csv >piped.csv 2>err || complain "a model through a pipe: $(cat err)"
[ "$(wc -l <piped.csv)" -eq 101 ] || complain "piped predictions: $(wc -l <piped.csv) lines"
accepts "$MERCER" fit wind.csv -o again --target u,v --operator divergence_free --features 100 --test-fraction 0.2
cmp -s model again || complain "the same data and seed gave different model files"

# A kernel that cannot have the vortex is warned of; a mixture takes what is there; a given mixture is kept.
accepts "$MERCER" fit wind.csv -o curl --target u,v --operator curl_free --features 60
contains '^warning: R^2 .* does not beat a linear model' "the wrong structure"
accepts "$MERCER" fit wind.csv -o mixed --target u,v --operator helmholtz --features 60
contains '^fitted: .*kernel helmholtz:0[.0-9]* of gaussian' "helmholtz"
accepts "$MERCER" fit wind.csv -o kept --target u,v --operator helmholtz:0.25 --features 60 --lengthscale 1 --lambda 1e-4
contains '^fitted: .*kernel helmholtz:0.25 of gaussian, .*lengthscale 1, lambda 0.0001, ' "what was given"
accepts "$MERCER" info kept
contains 'alpha  *0.25' "info of helmholtz:0.25"


# Whatever else fits take.
{ echo w,x,y,u,v; rows 80 'a = uniform(); b = uniform(); print 1 + i % 3 "," a "," (i == 5 ? "" : b) "," 3 - b "," a'; } >weighed.csv
accepts "$MERCER" fit weighed.csv -o result --target u,v --operator divergence_free --features 40 --weights w --missing fill \
  --scale center --extrapolation refuse --estimator ridge --target-transform rank --map '{"map":"fourier","projection":"orthogonal","bounded":true}'
contains '^note: 1 of 80 rows lack inputs' "filled"
accepts "$MERCER" cv wind.csv --target u,v --operator divergence_free --features 60 --folds 3
contains '^cv: R^2 \(1\.0\|0\.99\)' "cross-validation"

# Three noisy copies of one function, of which each row has one: a graph brings them together.
gaps='a = uniform(); y = sin(3 * a) + 0.3 * uniform(); print a "," (i % 3 == 0 ? y : "") "," (i % 3 == 1 ? y : "") "," (i % 3 == 2 ? y : "NA")'
{ echo a,p,q,r; rows 120 "$gaps"; } >gaps.csv
printf 'p,q,r\n0,1,2\n1,0,3\n2,3,0\n' >ordered.csv
printf 'r,p,q\n0,2,3\n2,0,1\n3,1,0\n' >shuffled.csv
printf 'p,q,r\n0,1,1\n1,0,1\n1,1,0\n' >graph.csv
accepts "$MERCER" fit gaps.csv -o joint --target p,q,r --operator decomposable:graph.csv --features 40 --test-fraction 0.2
at_least 0.5 "targets with gaps"
contains '^fitted: 96 rows, kernel gaussian, 40 features of map fourier, .*, outputs graph of weight [0-9.]*, [0-9.]* s$' "gaps"
contains '^targets: p 80 of 120 missing, q 80 of 120 missing, r 80 of 120 missing$' "count of gaps"
accepts "$MERCER" predict joint gaps.csv -o joint.csv
at_least 0.5 "prediction of targets with gaps"
accepts "$MERCER" score joint gaps.csv
contains '^rows  *120, each target where it is known' "score with gaps"
contains '^RMSE  *0\.[12]' "error of what is known"
contains '^R^2 of r  *0\.' "score of a target with gaps"
cut -d , -f 1,3 gaps.csv >some.csv
accepts "$MERCER" score joint some.csv
contains '^R^2 of q  *0\.' "score of a file with some of the targets"
contains '^R^2 of r  *not defined' "score of a target that the file has not"
accepts "$MERCER" predict joint some.csv -o some_out.csv
at_least 0.5 "prediction beside some of the targets"
contains ' 40 rows (80 without a target left out), each target where it is known$' "what the score leaves out"
[ "$(head -n 2 joint.csv | tail -n 1 | tr -cd , | wc -c)" -eq 2 ] || complain "predictions: $(head -n 2 joint.csv)"
accepts "$MERCER" fit gaps.csv -o ordered --target p,q,r --operator decomposable:ordered.csv --features 40
accepts "$MERCER" fit gaps.csv -o shuffled --target p,q,r --operator decomposable:shuffled.csv --features 40
cmp -s ordered shuffled || complain "a graph's header in another order gave another model"
{ echo a,b,p,q; rows 80 'a = uniform(); b = uniform(); print a "," b "," a * b "," a * b + 0.1 * uniform()'; } >two.csv
for way in decomposable decomposable:similarity '{"kernel":"decomposable","gamma":[1,0.9,0.9,1]}'; do
  accepts "$MERCER" fit two.csv -o two --target p,q --operator "$way" --features 40
  contains '^honest score: R^2 0\.9' "$way"
done
accepts "$MERCER" fit two.csv -o two --target p,q --operator '{"structure":"covariance","weight":0.4}' --features 40
contains ', outputs covariance of weight 0.4, ' "a weight that is given"
accepts "$MERCER" fit two.csv -o two --target p,q --operator auto --features 40
contains ', outputs \(independent\|covariance of weight [0-9.]*\), ' "auto"
accepts "$MERCER" fit wind.csv -o result --target u,v --operator auto --features 40 --report result.html
contains '^ *fine .* 0\.25  *[0-9-]' "auto of as many targets as inputs: a field"
contains '^ *fine .* -  *[0-9]' "auto: each target by itself"

# Gaps where nothing joins the targets, and in the one target.
accepts "$MERCER" fit gaps.csv -o apart --target p,q,r --features 40 --test-fraction 0.2
at_least 0.5 "targets with gaps, each by itself"
accepts "$MERCER" cv gaps.csv --target p,q,r --features 40 --folds 3 --ard off
contains '^cv: R^2 0\.[89]' "cross-validation with gaps"
head -n 31 gaps.csv >few.csv
accepts "$MERCER" cv few.csv --target p,q,r --features 8 --folds loo --lengthscale 1 --lambda 1e-3
contains '^cv: R^2 0\.[3-9][0-9]*, standard error 0\.[0-9]*, leave-one-out of 30 rows$' "leave-one-out with gaps"
accepts "$MERCER" fit gaps.csv -o one --target p --ignore q,r --features 40 --report result.html
contains '^targets: p 80 of 120 missing$' "gaps of one target"
accepts "$MERCER" score one gaps.csv
contains '^rows  *40 (80 without a target left out)$' "score of one target with gaps"

{ echo a,p,q; rows 40 'a = uniform(); print a "," a ",3"'; } >still.csv
accepts "$MERCER" fit still.csv -o still --target p,q --operator decomposable --features 20
contains '^warning: target q is 3 in every row' "a constant target"
{ echo a,p,q; rows 40 'a = uniform(); print (i == 3 ? "" : a) "," a "," 2 * a'; } >holes.csv
{ echo a,y; rows 60 'print uniform() "," (i == 2 ? "" : i % 2)'; } >labels.csv
bad() { refuses "$1" "$MERCER" fit "$2" -o result --target "$3" "${@:4}"; }
bad "--operator 'div.free': expected one of auto, decomposable, curl_free" wind.csv u,v --operator div.free
bad "--operator 'curl_free:3': expected 'curl_free' alone" wind.csv u,v --operator curl_free:3
bad "helmholtz:ALPHA" wind.csv u,v --operator helmholtz:2
bad "the data has 1 target, expected the 3 outputs of the kernel" wind.csv u --operator curl_free
bad "a lengthscale for each input asked for (ard = on)" wind.csv u,v --operator curl_free --ard on
bad '--estimator logistic in a search of a regression' wind.csv u,v --operator curl_free --estimator logistic
bad "--operator: prepare of a field: .* expected scale common or center" wind.csv u,v --operator curl_free --scale robust
bad "--operator: prepare of a field: .* no transform" wind.csv u,v --operator curl_free --transform rank
bad "malformed JSON" wind.csv u,v --operator '{"kernel"'
bad 'leave "scalar" out; --kernel says it' wind.csv u,v --operator '{"kernel":"curl_free","scalar":{"kernel":"gaussian"}}'
bad '--operator: unknown key "outputs.foo"' two.csv p,q --operator '{"structure":"covariance","foo":1}'
bad '--operator: outputs.structure = "correlated", expected one of' two.csv p,q --operator '{"structure":"correlated"}'
bad "expected a weight between each two of the 2 targets" wind.csv u,v --operator decomposable:graph.csv
printf 'p,foo,r\n0,1,1\n1,0,1\n1,1,0\n' >foo.csv
bad "foo.csv:1:2: column 'foo' is no target, expected p, q, r" gaps.csv p,q,r --operator decomposable:foo.csv
printf '0,1,1\n1,0,1\n1,2,0\n' >uneven.csv
bad "uneven.csv: weight 1 in row 2, column 3, but 2 in row 3, column 2" gaps.csv p,q,r --operator decomposable:uneven.csv
printf '0,1,1\n1,0,-1\n1,-1,0\n' >negative.csv
bad "negative.csv: weight -1 in row 2, column 3, expected" gaps.csv p,q,r --operator decomposable:negative.csv
printf '0,0,0\n0,0,0\n0,0,0\n' >none.csv
bad "the graph of 3 outputs has no edges, expected a weight > 0" gaps.csv p,q,r --operator decomposable:none.csv
{ echo a,u,v; rows 30 'a = uniform(); print a ",," 2 * a'; } >empty.csv
bad "target u has no values" empty.csv u,v --operator decomposable
bad '--operator: unknown key "foo"' wind.csv u,v --operator '{"kernel":"curl_free","foo":1}'
bad "1 target, expected at least 2" two.csv p --operator decomposable --ignore q
bad "missing values are refused" holes.csv p,q --operator decomposable
accepts "$MERCER" fit labels.csv -o labels.model --target y --features 32
contains '^targets: y [0-9]* of [0-9]* missing, which are left out$' "rows without a class"
refuses "the model is a regression" "$MERCER" predict model test.csv -o result --scores
finish
