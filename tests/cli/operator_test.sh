# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# Targets learnt together: fit --operator, predict, score, info. Usage: operator_test.sh MERCER FOLDER
here=$(cd "$(dirname "$0")" && pwd)
MERCER=$1
rm -rf "$2" && mkdir -p "$2" && cd "$2" || exit 1
. "$here/black_box.sh"

# A vortex under a steady wind, which has no sources.
vortex='a = uniform(); b = uniform(); e = exp(-2 * (a * a + b * b)); print a "," b "," 3 - 2 * b * e "," 2 * a * e - 1'
{ echo x,y,u,v; rows 150 "$vortex"; } >wind.csv
{ echo x,y,u,v; rows 250 "$vortex" | tail -n 100; } >test.csv

accepts "$MERCER" fit wind.csv -o model --target u --target v --operator divergence_free --features 100 \
  --test-fraction 0.2 --report report.json
at_least 0.99 "divergence_free"
contains '^fitted: 120 rows, divergence_free of gaussian, 100 features, lengthscale [0-9.]*, lambda' fit
contains '^honest score: R^2 \(1\.0\|0\.99\).* (120 rows, each by a search that had not seen it)$' "honest score"
contains '^on the same rows: mean -\?0\.0[0-9]*, each target by itself 0\.' "baselines"
contains '^ *features *rows *lengthscale' "table of the search"
grep -q '^warning' out && complain "a good fit was warned of: $(cat out)"
grep -q '"independent":' report.json || complain "no baseline in $(cat report.json)"
accepts "$MERCER" predict model test.csv -o predicted.csv
at_least 0.99 "prediction of both targets"
[ "$(head -n 1 predicted.csv)" = u,v ] || complain "header '$(head -n 1 predicted.csv)', expected u,v"
[ "$(wc -l <predicted.csv)" -eq 101 ] || complain "$(wc -l <predicted.csv) lines of predictions, expected 101"
accepts "$MERCER" score model test.csv
contains '^R^2 of v  *0\.99\|^R^2 of v  *1' "score of a target"
accepts "$MERCER" info model
contains '^kind  *operator_model' info
contains 'offset  *2\.' "info: intercept"
contains 'kernel  *divergence_free' "info: operator"
"$MERCER" fit wind.csv -o - --target u,v --operator divergence_free --features 100 --quiet 2>err |
  "$MERCER" predict - test.csv >piped.csv 2>err || complain "a model through a pipe: $(cat err)"
[ "$(wc -l <piped.csv)" -eq 101 ] || complain "piped predictions: $(wc -l <piped.csv) lines"
accepts "$MERCER" fit wind.csv -o again --target u,v --operator divergence_free --features 100 --test-fraction 0.2
cmp -s model again || complain "the same data and seed gave different model files"

# A kernel that cannot have the vortex is warned of; a mixture takes what is there; a given mixture is kept.
accepts "$MERCER" fit wind.csv -o curl --target u,v --operator curl_free --features 60
contains '^warning: .* does not beat independent outputs' "the wrong structure"
accepts "$MERCER" fit wind.csv -o mixed --target u,v --operator helmholtz --features 60
contains '^fitted: .*, alpha 0' "helmholtz"
accepts "$MERCER" fit wind.csv -o kept --target u,v --operator helmholtz:0.25 --features 60 --lengthscale 1 --lambda 1e-4
contains '^fitted: .*lengthscale 1, lambda 0.0001, ' "what was given"
accepts "$MERCER" info kept
contains 'alpha  *0.25' "info of helmholtz:0.25"

# Three noisy copies of one function, of which each row has one: a graph brings them together.
gaps='a = uniform(); y = sin(3 * a) + 0.3 * uniform(); print a "," (i % 3 == 0 ? y : "") "," (i % 3 == 1 ? y : "") "," (i % 3 == 2 ? y : "NA")'
{ echo a,p,q,r; rows 120 "$gaps"; } >gaps.csv
printf 'p,q,r\n0,1,2\n1,0,3\n2,3,0\n' >ordered.csv
printf 'r,p,q\n0,2,3\n2,0,1\n3,1,0\n' >shuffled.csv
printf 'p,q,r\n0,1,1\n1,0,1\n1,1,0\n' >graph.csv
accepts "$MERCER" fit gaps.csv -o joint --target p,q,r --operator decomposable:graph.csv --features 40 --test-fraction 0.2
at_least 0.5 "targets with gaps"
contains '^fitted: 96 rows, decomposable of gaussian, 40 features' "gaps"
contains '^targets: p 80 of 120 missing, q 80 of 120 missing, r 80 of 120 missing$' "count of gaps"
accepts "$MERCER" predict joint gaps.csv -o joint.csv
at_least 0.5 "prediction of targets with gaps"
accepts "$MERCER" score joint gaps.csv
contains '^rows  *120, each target where it is known' "score with gaps"
contains '^R^2 of r  *0\.' "score of a target with gaps"
cut -d , -f 1,3 gaps.csv >some.csv
accepts "$MERCER" score joint some.csv
contains '^R^2 of q  *0\.' "score of a file with some of the targets"
contains '^mean of targets  *(without p, r: ' "what the mean leaves out"
accepts "$MERCER" predict joint some.csv -o some_out.csv
at_least 0.5 "prediction beside some of the targets"
contains '(without p, r: ' "what the mean leaves out"
[ "$(head -n 2 joint.csv | tail -n 1 | tr -cd , | wc -c)" -eq 2 ] || complain "predictions: $(head -n 2 joint.csv)"
accepts "$MERCER" fit gaps.csv -o ordered --target p,q,r --operator decomposable:ordered.csv --features 40
accepts "$MERCER" fit gaps.csv -o shuffled --target p,q,r --operator decomposable:shuffled.csv --features 40
cmp -s ordered shuffled || complain "a graph's header in another order gave another model"
{ echo a,b,p,q; rows 80 'a = uniform(); b = uniform(); print a "," b "," a * b "," a * b + 0.1 * uniform()'; } >two.csv
for way in decomposable decomposable:similarity '{"kernel":"decomposable","gamma":[1,0.9,0.9,1]}'; do
  accepts "$MERCER" fit two.csv -o two --target p,q --operator "$way" --features 40
  contains '^honest score: R^2 0\.9' "$way"
done

{ echo a,p,q; rows 40 'a = uniform(); print a "," a ",3"'; } >still.csv
accepts "$MERCER" fit still.csv -o still --target p,q --operator decomposable --features 20
contains '^warning: target q is 3 in every row' "a constant target"
contains 'weight w *pooled R^2$' "names of the table"
{ echo a,p,q; rows 40 'a = uniform(); print (i == 3 ? "" : a) "," a "," 2 * a'; } >holes.csv
bad() { refuses "$1" "$MERCER" fit "$2" -o result --target "$3" "${@:4}"; }
bad "--operator 'div.free': expected one of decomposable, curl_free" wind.csv u,v --operator div.free
bad "--operator 'curl_free:3': expected 'curl_free' alone" wind.csv u,v --operator curl_free:3
bad "helmholtz:ALPHA" wind.csv u,v --operator helmholtz:2
bad "1 target and 3 inputs, a field has as many targets as inputs" wind.csv u --operator curl_free
bad "does not go with --ard on" wind.csv u,v --operator curl_free --ard on
bad "does not go with --map" wind.csv u,v --operator curl_free --map fourier
bad "does not go with --estimator" wind.csv u,v --operator curl_free --estimator logistic
bad "does not go with --task classification" wind.csv u,v --operator curl_free --task classification
bad "does not go with --weights" wind.csv u --operator curl_free --weights y
bad "does not go with --missing" wind.csv u,v --operator curl_free --missing fill
bad "does not go with --extrapolation clip" wind.csv u,v --operator curl_free --extrapolation clip
bad "does not go with --extrapolation refuse" wind.csv u,v --operator curl_free --extrapolation refuse
bad "--lambda 0: with --operator expected auto or a number > 0" wind.csv u,v --operator curl_free --lambda 0
bad "a lengthscale for each input does not go with --operator" two.csv p,q --operator decomposable --kernel '{"kernel":"gaussian","lengthscale":[1,2]}'
bad "JSON alone" wind.csv u,v --operator curl_free --report result.html
bad "malformed JSON" wind.csv u,v --operator '{"kernel"'
bad 'leave "features" out' wind.csv u,v --operator '{"kernel":{"kernel":"curl_free"},"features":3}'
bad "expected a weight between each two of the 2 targets" wind.csv u,v --operator decomposable:graph.csv
printf 'p,foo,r\n0,1,1\n1,0,1\n1,1,0\n' >foo.csv
bad "foo.csv:1:2: column 'foo' is no target, expected p, q, r" gaps.csv p,q,r --operator decomposable:foo.csv
printf '0,1,1\n1,0,1\n1,2,0\n' >uneven.csv
bad "uneven.csv: weight 1 in row 2, column 3, but 2 in row 3, column 2" gaps.csv p,q,r --operator decomposable:uneven.csv
printf '0,1,1\n1,0,-1\n1,-1,0\n' >negative.csv
bad "negative.csv: weight -1 in row 2, column 3, expected" gaps.csv p,q,r --operator decomposable:negative.csv
printf '0,0,0\n0,0,0\n0,0,0\n' >none.csv
bad "none.csv: no weight > 0 outside the diagonal" gaps.csv p,q,r --operator decomposable:none.csv
{ echo a,u,v; rows 30 'a = uniform(); print a ",," 2 * a'; } >empty.csv
bad "target u has no values" empty.csv u,v --operator decomposable
bad '--operator: unknown key "foo"' wind.csv u,v --operator '{"kernel":{"kernel":"curl_free"},"foo":1}'
bad '--features = 101, expected an even number' wind.csv u,v --operator curl_free --features 101
bad "1 target, expected at least 2" two.csv p --operator decomposable --ignore q
bad "with --operator fill inputs first, or leave columns out: --ignore" holes.csv p,q --operator decomposable
printf '1 1:2\n2 1:3 2:1\n3 40:1\n' >sparse.svm
refuses "sparse rows" "$MERCER" fit sparse.svm -o result --operator decomposable
refuses "no target" "$MERCER" fit gaps.csv -o result --target p
refuses "was fitted with --operator" "$MERCER" relevance model test.csv
refuses "keeps no ranges" "$MERCER" predict model test.csv -o result --extrapolation clip
refuses "the model is a regression" "$MERCER" predict model test.csv -o result --scores
finish
