// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestEveryPredictionHasItsColumns(t *testing.T) {
	x, y := rows(120)
	two := make([]float64, 240)
	for i := range y {
		two[2*i], two[2*i+1] = y[i], -y[i]
	}
	gp := `{"model":"gp","precision":"f64","search":false,"lambda":1e-2,"map":{"kernel":{"kernel":"gaussian","lengthscale":1},"features":64}}`
	model := must(FitModel(gp, Data[float64]{X: Dense(x, 3), Y: Dense(two, 2)}, nil))
	numbers := func(ask Ask) []float64 { return must(Predict(model, Dense(x[:90], 3), ask, nil)) }
	for what, columns := range map[string]int{"": 2, "value": 2, "latent_variance": 2, "predictive_variance": 2, "prepared": 3, "gradient": 6,
		"laplacian": 2, "gradient_variance": 6, "hessian_diagonal": 6, "covariance": 4, "joint_covariance": 120} {
		if n := len(numbers(Ask{What: what})); n != 30*columns {
			t.Errorf("%d numbers of %s", n, what)
		}
	}
	f, q := numbers(Ask{}), numbers(Ask{What: "quantile", Quantiles: []float64{0.1, 0.5, 0.9}})
	for i := range f {
		if !(q[3*i] < f[i] && math.Abs(q[3*i+1]-f[i]) < 1e-9 && f[i] < q[3*i+2]) {
			t.Errorf("quantiles %v about %g", q[3*i:3*i+3], f[i])
		}
	}
	sample := func(seed uint64) []float64 { return numbers(Ask{What: "sample", Samples: 4, Seed: seed}) }
	if len(sample(1)) != 240 || apart(sample(1), sample(1)) != 0 || apart(sample(1), sample(2)) == 0 {
		t.Error("samples")
	}
	partials, gradient := numbers(Ask{What: "partials", Partials: []int32{1, 0, 0, 0, 0, 1}}), numbers(Ask{What: "gradient"})
	for i := 0; i < 30; i++ {
		g := gradient[6*i:]
		if apart(partials[4*i:4*i+4], []float64{g[0], g[1], g[4], g[5]}) > 1e-9 {
			t.Error("partials")
		}
	}
	for word, ask := range map[string]Ask{"orders": {What: "partials", Partials: []int32{1}}, "quantile_count": {What: "quantile"}, "value": {What: "clas"},
		"samples": {What: "sample", Samples: math.MaxInt}, "sample_count": {What: "sample", Samples: -1}, "quantiles": {Quantiles: []float64{0.5}}} {
		if _, err := Predict(model, Dense(x, 3), ask, nil); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%v, expected %s", err, word)
		}
	}
}

func TestFieldsAndClassesHaveTheirColumns(t *testing.T) {
	x, y := rows(100)
	gradient, classes := make([]float64, 300), make([]float64, 100)
	for i := range y {
		gradient[3*i], gradient[3*i+1], gradient[3*i+2] = x[3*i], x[3*i+2], x[3*i+1]
		if y[i] > 0 {
			classes[i] = 1
		}
	}
	curlFree := `{"search":false,"lambda":1e-3,"prepare":{"scale":"common"},"map":{"kernel":{"kernel":"curl_free","scalar":{"kernel":"gaussian","lengthscale":1}},"features":60}}`
	field := must(FitModel(curlFree, Data[float64]{X: Dense(x, 3), Y: Dense(gradient, 3)}, nil))
	for what, columns := range map[string]int{"value": 3, "curl": 3, "divergence": 1, "potential": 1} {
		if n := len(must(Predict(field, Dense(x, 3), Ask{What: what}, nil))); n != 100*columns {
			t.Errorf("%d numbers of %s", n, what)
		}
	}
	model := must(FitModel(`{"task":"classification","classes":2,"search":false,"lambda":1e-3,"map":{"features":64}}`, data(x, classes), nil))
	scores := values(model, x)
	for i, class := range must(Predict(model, Dense(x, 3), Ask{What: "class"}, nil)) {
		if (class == 1) != (scores[2*i+1] > scores[2*i]) {
			t.Errorf("class %g of %v", class, scores[2*i:2*i+2])
		}
	}
}

func TestInputsOutsideAreCountedAndRefused(t *testing.T) {
	x, y := rows(100)
	model, far, met := must(FitModel(fixed, data(x, y), nil)), Dense([]float64{0, 0, -0.7, 0, 5, -0.7, 7, 0, -5}, 3), Outside{}
	clipped := must(Predict(model, far, Ask{Extrapolation: ExtrapolationClip, Outside: &met}, nil))
	free := must(Predict(model, far, Ask{Extrapolation: ExtrapolationFree}, nil))
	if met.Rows != 2 || met.Values != 3 || len(met.Inputs) != 3 || met.Inputs[2] != 1 || clipped[0] != free[0] || clipped[1] == free[1] {
		t.Errorf("%+v: %v, %v", met, clipped, free)
	}
	refused(t, failed(Predict(model, far, Ask{Extrapolation: ExtrapolationRefuse}, nil)), "MERCER_INVALID_ARGUMENT", "row 1")
}

func TestTrialsAreTold(t *testing.T) {
	x, y := rows(150)
	told, finals := 0, 0
	context := must(NewContext(Options{Trial: func(text string) {
		var trial struct {
			Stage   string
			Seconds *float64
		}
		if json.Unmarshal([]byte(text), &trial) == nil && trial.Seconds != nil {
			told++
		}
		if trial.Stage == "final" {
			finals++
		}
	}}))
	search := `{"map":{"kernel":{"kernel":"gaussian"},"features":32}}`
	report := must(must(FitModel(search, data(x, y), context)).Text("report"))
	if told < 4 || finals != strings.Count(report, `"stage":"final"`) {
		t.Errorf("%d trials, %d final", told, finals)
	}
	panics := must(NewContext(Options{Trial: func(string) { panic("of a trial") }}))
	if panicked := panicOf(func() { _, _ = FitModel(search, data(x, y), panics) }); panicked != "of a trial" {
		t.Error(panicked)
	}
}

func TestRowsAreTested(t *testing.T) {
	x, _ := rows(300)
	pValue := func(y Rows[float64]) float64 {
		var answer struct {
			P *float64 `json:"p_value"`
		}
		must(0, json.Unmarshal([]byte(must(RowsTest(`{"test":"mmd","features":128}`, Dense(x[:450], 3), y, nil))), &answer))
		return *answer.P
	}
	far := append([]float64(nil), x[450:]...)
	for i := range far {
		far[i] += 2
	}
	if pValue(Dense(far, 3)) > 0.02 || pValue(Dense(x[:450], 3)) < 0.5 || pValue(csr(far)) != pValue(Dense(far, 3)) {
		t.Error(pValue(Dense(far, 3)), pValue(Dense(x[:450], 3)), pValue(csr(far)))
	}
	old, _ := rows(900)
	late, _ := rows(950)
	long := must(RowsTest(`{"test":"mmd","features":16,"witnesses":900}`, Dense(old, 3), Dense(late, 3), nil))
	if len(long) <= 1<<15 || !json.Valid([]byte(long)) { // more than is asked for at first
		t.Errorf("%d bytes", len(long))
	}
	refused(t, failed(RowsTest(`{"test":"mdm"}`, Dense(x, 3), Dense(x, 3), nil)), "MERCER_INVALID_ARGUMENT", "mdm")
	if median := must(LengthscaleMedian(Dense([]float64{0, 1, 5}, 1), 100, 0, nil)); median != 4 { // of 1, 4 and 5
		t.Error(median)
	}
}

func TestSparseFeaturesAndBytes(t *testing.T) {
	x, y := rows(60)
	bins := must(NewMap(`{"map":"random_binning","kernel":{"kernel":"laplacian"},"inputs":3,"features":256,"seed":1}`))
	dense, z := must(Transform(bins, Dense(x, 3), nil)), must(TransformCSR(bins, Dense(x, 3), nil))
	filled := make([]float64, len(dense))
	for i := 0; i < 60; i++ {
		for p := z.Offsets[i]; p < z.Offsets[i+1]; p++ {
			filled[256*i+int(z.Indices[p])] += z.Values[p]
		}
	}
	if apart(filled, dense) > 1e-12 || len(z.Values) > len(dense)/2 {
		t.Error("sparse features")
	}
	kernel := must(NewKernel(`{"kernel":"matern","lengthscale":2}`))
	if must(must(NewKernel(must(kernel.Spec()))).Spec()) != must(kernel.Spec()) {
		t.Error(must(kernel.Spec()))
	}
	type kept struct { // gob asks for the bytes
		Name  string
		Map   Map
		Model *Model
	}
	model, file, again := must(FitModel(fixed, data(x, y), nil)), bytes.Buffer{}, kept{}
	must(0, model.SetMetadata("three inputs"))
	must(0, gob.NewEncoder(&file).Encode(&kept{"both", *bins, model}))
	must(0, gob.NewDecoder(&file).Decode(&again))
	if must(again.Model.Text("metadata")) != "three inputs" || apart(values(again.Model, x), values(model, x)) != 0 ||
		apart(must(Transform(&again.Map, Dense(x, 3), nil)), dense) != 0 {
		t.Error("other objects of their bytes")
	}
	refused(t, again.Map.UnmarshalBinary(nil), "MERCER_INVALID_ARGUMENT", "mercer_map_read")
	refused(t, failed((*Model)(nil).MarshalBinary()), "MERCER_INVALID_ARGUMENT", "mercer_model_write")
}
