// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const spec = `{"kernel":{"kernel":"gaussian","lengthscale":1},"inputs":3,"features":512,"seed":5}`
const small = `{"search":false,"map":{"features":32}}`

func rows(n int) ([]float64, []float64) {
	x, y := make([]float64, 3*n), make([]float64, n)
	for i := range x {
		x[i] = math.Sin(float64(i) * 0.7 * (1 + float64(i%3)))
	}
	for i := range y {
		y[i] = x[3*i] * x[3*i+1]
	}
	return x, y
}

func data(x, y []float64) Data[float64] { return Data[float64]{X: Dense(x, 3), Y: Dense(y, 1)} }

func refused(t *testing.T, err error, status Status, word string) {
	t.Helper()
	var failed *Error
	if !errors.As(err, &failed) || failed.Status != status || !strings.Contains(failed.Text, word) {
		t.Fatalf("%v, expected %s with %q", err, status, word)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestFeaturesEstimateTheKernel(t *testing.T) {
	x, _ := rows(40)
	m := must(NewMap(spec))
	z, k := must(Transform(m, Dense(x, 3), nil)), must(Gram(must(m.Kernel()), Dense(x, 3), Dense(x, 3), nil))
	for p := range k {
		sum := 0.0
		for j := 0; j < 512; j++ {
			sum += z[p/40*512+j] * z[p%40*512+j]
		}
		if math.Abs(sum-k[p]) > 6*math.Sqrt(1.5/512) { // six deviations of the pair form
			t.Fatalf("pair %d: %g, kernel %g", p, sum, k[p])
		}
	}
	path := filepath.Join(t.TempDir(), "map")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	again := must(Transform(must(LoadMap(path)), Dense(x, 3), nil))
	for i := range z {
		if again[i] != z[i] {
			t.Fatal("a map read again differs")
		}
	}
	if landmarks := must(FitMap(`{"map":"nystroem","kernel":{"kernel":"gaussian"},"inputs":3,"features":20}`, Dense(x, 3), Rows[float64]{}, nil)); landmarks.Shape().Features != 20 {
		t.Fatal("features of a map from rows")
	}
	m.Close()
}

func failed[T any](_ T, err error) error { return err }

func TestEveryStatusComesWithItsText(t *testing.T) {
	x, y := rows(200)
	for i := range y {
		y[i] = float64(i % 2)
	}
	m, path := must(NewMap(spec)), filepath.Join(t.TempDir(), "map")
	damaged := func(at int) error {
		must(0, m.Save(path))
		bytes := must(os.ReadFile(path))
		bytes[at] ^= 64
		must(0, os.WriteFile(path, bytes, 0o600))
		return failed(LoadMap(path))
	}
	fit := func(json string, context *Context) error { return failed(FitModel(json, data(x, y), context)) }
	oneStep := `{"model":"logistic","task":"classification","classes":2,"iterations":1,"tolerance":1e-12,"lambda":1e-8,"search":false,"map":{"features":32}}`
	for _, c := range []struct {
		status Status
		word   string
		err    error
	}{
		{InvalidArgument, "gausian", failed(NewMap(`{"kernel":{"kernel":"gausian"},"inputs":3,"features":8}`))},
		{DimensionMismatch, "mercer_map_transform", failed(Transform(m, Dense(x, 2), nil))},
		{OutOfMemory, "memory", fit("{}", must(NewContext(Options{MemoryCap: 1000})))},
		{Unsupported, "polynomial", failed(NewMap(`{"map":"fourier","kernel":{"kernel":"polynomial"},"inputs":3,"features":8}`))},
		{NotPositiveDefinite, "gamma", failed(NewKernel(`{"kernel":"decomposable","gamma":[[1,2],[2,1]]}`))},
		{NotConverged, "lambda = 1e-08", fit(oneStep, nil)},
		{IO, "absent", failed(LoadMap("/absent/map"))},
		{CorruptFile, "mercer_map_read", damaged(40)},
		{NewerVersion, "newer", damaged(8)},
		{Cancelled, "mercer_model_fit", fit("{}", must(NewContext(Options{Progress: func(int64, int64) bool { return false }})))},
	} {
		refused(t, c.err, c.status, c.word)
		if !errors.Is(fmt.Errorf("of a caller: %w", c.err), c.status) || errors.Is(c.err, Internal) {
			t.Errorf("%v is not %v", c.err, c.status)
		}
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	x, y := rows(40)
	m := must(NewMap(spec))
	_, err := Transform(m, Dense(x, 7), nil)
	refused(t, err, InvalidArgument, "d = 7")
	refused(t, TransformInto(m, Dense(x, 3), make([]float64, 5), nil), DimensionMismatch, "TransformInto: z has 5 numbers")
	_, err = FitModel("{}", data(x, y[:7]), nil)
	refused(t, err, "MERCER_DIMENSION_MISMATCH", "mercer_model_fit")
	model := must(FitModel(small, data(x, y), nil))
	for _, err := range []error{failed(NewKernel("{}\x00")), failed(NewMap(spec + "\x00")), failed(LoadMap("a\x00")), m.Save("a\x00"),
		failed(Specs("a\x00")), failed(FitModel("{}\x00", data(x, y), nil)), failed(Predict(model, Dense(x, 3), Ask{What: "value\x00"}, nil))} {
		refused(t, err, "MERCER_INVALID_ARGUMENT", "NUL")
	}
}

func TestClosedAndNilHandlesAreRefused(t *testing.T) {
	x, y := rows(40)
	closed, model, context := must(NewMap(spec)), must(FitModel(small, data(x, y), nil)), must(NewContext(Options{Progress: func(int64, int64) bool { return true }}))
	closed.Close()
	closed.Close()
	model.Close()
	context.Close()
	context.Close()
	for _, m := range []*Map{nil, closed} {
		refused(t, failed(Transform(m, Dense(x, 3), nil)), "MERCER_INVALID_ARGUMENT", "mercer_map_transform")
		if z, err := Transform(m, Dense(x, 3), nil); z != nil || err == nil {
			t.Error("an answer beside an error")
		}
		refused(t, failed(m.Kernel()), "MERCER_INVALID_ARGUMENT", "mercer_map_kernel")
	}
	for _, m := range []*Model{nil, model} {
		refused(t, failed(Predict(m, Dense(x, 3), Ask{}, nil)), "MERCER_INVALID_ARGUMENT", "mercer_model_predict")
		refused(t, failed(m.Text("spec")), "MERCER_INVALID_ARGUMENT", "mercer_model_text")
	}
	refused(t, failed(Gram(nil, Dense(x, 3), Dense(x, 3), nil)), "MERCER_INVALID_ARGUMENT", "mercer_kernel_gram")
	refused(t, failed(FitModel("{}", data(x, y), context)), "MERCER_INVALID_ARGUMENT", "closed")
	var none *Model
	none.Close()
}

func TestASecondCallOfAContextIsRefused(t *testing.T) {
	x, y := rows(200)
	var context *Context
	calls := 0
	context = must(NewContext(Options{Threads: 1, Progress: func(int64, int64) bool {
		calls++
		refused(t, failed(FitModel("{}", data(x, y), context)), "MERCER_INVALID_ARGUMENT", "one call at a time")
		return true
	}}))
	must(FitModel(small, data(x, y), context))
	if calls < 2 {
		t.Fatalf("%d calls of progress", calls)
	}
	var all sync.WaitGroup
	for g := 0; g < 8; g++ {
		all.Add(1)
		go func() {
			defer all.Done()
			if _, err := FitModel(small, data(x, y), context); err != nil && !strings.Contains(err.Error(), "one call at a time") {
				t.Error(err)
			}
		}()
	}
	all.Wait()
	defer func() {
		if recover() != "of the first call" {
			t.Fatal("the panic was lost")
		}
	}()
	context = must(NewContext(Options{Progress: func(int64, int64) bool {
		_ = failed(FitModel("{}", data(x, y), context))
		panic("of the first call")
	}}))
	_, _ = FitModel("{}", data(x, y), context)
}

func TestModelsProgressAndPanics(t *testing.T) {
	x, y := rows(200)
	calls := 0
	model := must(FitModel("{}", data(x, y), must(NewContext(Options{Threads: 1, Progress: func(done, total int64) bool { calls++; return done <= total }}))))
	worst := 0.0
	for i, f := range must(Predict(model, Dense(x, 3), Ask{}, nil)) {
		worst = math.Max(worst, math.Abs(f-y[i]))
	}
	if calls < 10 || worst > 0.5 || !strings.Contains(must(model.Text("report")), "score") {
		t.Fatalf("%d calls of progress, error %g", calls, worst)
	}
	_, err := FitModel("{}", data(x, y), must(NewContext(Options{Progress: func(int64, int64) bool { return false }})))
	refused(t, err, "MERCER_CANCELLED", "")
	cancelled := must(NewContext(Options{}))
	cancelled.Cancel()
	_, err = FitModel("{}", data(x, y), cancelled)
	refused(t, err, "MERCER_CANCELLED", "")
	defer func() {
		if recover() != "of the callback" {
			t.Fatal("the panic was lost")
		}
	}()
	_, _ = FitModel("{}", data(x, y), must(NewContext(Options{Progress: func(int64, int64) bool { panic("of the callback") }})))
}

func ExampleSpec() {
	text, err := Spec(FourierMap{Kernel: MaternKernel{Nu: 1.5, Lengthscale: Numbers{2}}, Inputs: 3, Features: 512})
	fmt.Println(text, err)
	// Output: {"map":"fourier","kernel":{"kernel":"matern","nu":1.5,"lengthscale":2},"inputs":3,"features":512} <nil>
}

func TestSpecsAreThoseOfTheirTexts(t *testing.T) {
	x, y := rows(60)
	matern := MaternKernel{Nu: 0.30000000000000004, Lengthscale: Numbers{2, 1, 0.5}}
	sum := SumKernel{Parts: []Of[Kernel]{&matern, PolynomialKernel{Degree: 1}}}
	for text, entry := range map[string]Entry{
		`{"map":"sum","kernel":{"kernel":"sum","parts":[{"kernel":"matern","nu":0.30000000000000004,"lengthscale":[2,1,0.5]},` +
			`{"kernel":"polynomial","degree":1}]},"inputs":3,"features":64,"seed":18446744073709551615,` +
			`"parts":[{"map":"fourier","projection":"orthogonal"},{"map":"linear"}]}`: SumMap{Kernel: sum, Inputs: 3, Features: 64,
			Seed: math.MaxUint64, Parts: []Of[Map]{FourierMap{Projection: "orthogonal"}, LinearMap{}}},
		`{"model":"ridge","map":{"kernel":{"kernel":"gaussian","lengthscale":2},"features":32},"search":false,` +
			`"prepare":{"transform":"rank"},"lambda":0}`: RidgeModel{Fit: Fit{Map: AutoMap{Kernel: GaussianKernel{Lengthscale: Numbers{2}},
			Features: 32}, Search: Given(false), Prepare: &Prepare{Transform: "rank"}}, Lambda: Given(0.0)},
		`{"kernel":"decomposable","gamma":[[1,0.5],[0.5,1]]}`: DecomposableKernel{Gamma: []Numbers{{1, 0.5}, {0.5, 1}}},
		`{"test":"hsic","y_kernels":[{"kernel":"sign"}]}`:     HsicTest{YKernels: []Of[Kernel]{SignKernel{}}},
	} {
		if made := must(Spec(entry)); made != text {
			t.Errorf("%s, expected %s", made, text)
		}
	}
	if z := must(Transform(must(NewMap(must(Spec(FourierMap{Kernel: matern, Inputs: 3, Features: 8})))), Dense(x, 3), nil)); len(z) != 60*8 {
		t.Errorf("%d features", len(z))
	}
	fit := must(Spec(GpModel{Fit: Fit{Search: Given(false), Map: FourierMap{Kernel: matern, Features: 32}}}))
	if said := must(must(FitModel(fit, data(x, y), nil)).Text("spec")); !strings.Contains(said, `"model":"gp"`) {
		t.Error(said)
	}
	if text, err := Spec(FourierMap{Kernel: MaternKernel{Nu: math.NaN()}}); text != "" || err == nil {
		t.Error(text)
	}
	refused(t, failed(Spec(FourierMap{Kernel: MaternKernel{Nu: math.NaN()}})), "MERCER_INVALID_ARGUMENT", "nu = NaN, expected a finite")
	refused(t, failed(Spec(SumKernel{Parts: []Of[Kernel]{nil}})), "MERCER_INVALID_ARGUMENT", "parts is nil")
}

func TestManyGoroutinesUseOneMap(t *testing.T) {
	x, _ := rows(50)
	m := must(NewMap(spec))
	z := must(Transform(m, Dense(x, 3), nil))
	var all sync.WaitGroup
	for g := 0; g < 64; g++ {
		all.Add(1)
		go func(g int) {
			defer all.Done()
			for i := 1; i < 20; i++ { // constructors take no context: the text is that of the goroutine's own call all the same
				own := fmt.Sprintf("inputs = -%d,", 1000*i+g)
				_, err := NewMap(fmt.Sprintf(`{"kernel":{"kernel":"gaussian"},"inputs":-%d,"features":8}`, 1000*i+g))
				if err == nil || !strings.Contains(err.Error(), own) {
					t.Errorf("%v, expected %s", err, own)
				}
			}
			for i, value := range must(Transform(m, Dense(x, 3), nil)) {
				if value != z[i] {
					t.Error("other features")
					return
				}
			}
			if _, err := Transform(m, Dense(x, 2), nil); err == nil || !strings.Contains(err.Error(), "mercer_map_transform") {
				t.Error(err)
			}
		}(g)
	}
	all.Wait()
}
