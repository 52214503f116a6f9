// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

const fixed = `{"precision":"f64","search":false,"lambda":1e-3,"map":{"kernel":{"kernel":"gaussian","lengthscale":1},"features":64}}`

func values(m *Model, x []float64) []float64 { return must(Predict(m, Dense(x, 3), Ask{}, nil)) }

// apart is the largest difference.
func apart(a, b []float64) float64 {
	most := math.Abs(float64(len(a) - len(b)))
	for i := 0; i < len(a) && i < len(b); i++ {
		most = math.Max(most, math.Abs(a[i]-b[i]))
	}
	return most
}

// csr is the same rows of 3, sparse.
func csr(x []float64) Rows[float64] {
	offsets, indices := make([]int64, len(x)/3+1), make([]int64, len(x))
	for p := range indices {
		indices[p], offsets[p/3+1] = int64(p%3), int64(p+1)
	}
	return Sparse(x, offsets, indices, 3)
}

func panicOf(call func()) (panicked any) {
	defer func() { panicked = recover() }()
	call()
	return nil
}

func TestSparseRowsAreTheDenseOnes(t *testing.T) {
	x, y := rows(200)
	uncentred := strings.Replace(fixed, "{", `{"prepare":{"standardize":false},"center":false,`, 1)
	m, dense := must(NewMap(spec)), must(FitModel(uncentred, data(x, y), nil))
	sparse := must(FitModel(uncentred, Data[float64]{X: csr(x), Y: Dense(y, 1)}, nil))
	if apart(must(Transform(m, csr(x), nil)), must(Transform(m, Dense(x, 3), nil))) > 1e-12 {
		t.Error("features of sparse rows")
	}
	if apart(values(dense, x), must(Predict(sparse, csr(x), Ask{}, nil))) > 1e-6 {
		t.Error("a model of sparse rows")
	}
	refused(t, failed(Transform(m, Sparse(x, nil, nil, 3), nil)), "MERCER_INVALID_ARGUMENT", "0 offsets")
	type request struct { // numbers beside a pointer of Go
		name *string
		x    [3]float64
	}
	name := "rows" + t.Name()
	asked := &request{&name, [3]float64{x[0], x[1], x[2]}}
	if apart(must(Predict(dense, Dense(asked.x[:], 3), Ask{}, nil)), values(dense, x)[:1]) > 1e-12 {
		t.Error("a row inside a struct")
	}
}

func TestRowsOfWeightZeroAreLeftOut(t *testing.T) {
	x, y := rows(200)
	plain, weights := must(FitModel(fixed, data(x[:450], y[:150]), nil)), make([]float64, 200)
	for i := range y {
		if weights[i] = 1; i >= 150 {
			weights[i], y[i] = 0, y[i]+10
		}
	}
	weighted := must(FitModel(fixed, Data[float64]{X: Dense(x, 3), Y: Dense(y, 1), Weights: weights}, nil))
	if apart(values(plain, x), values(weighted, x)) > 1e-6 || apart(values(plain, x), values(must(FitModel(fixed, data(x, y), nil)), x)) < 1 {
		t.Error("rows of weight 0 were learnt from")
	}
	refused(t, failed(FitModel(fixed, Data[float64]{X: Dense(x, 3), Y: Dense(y, 1), Weights: weights[1:]}, nil)), DimensionMismatch, "199 weights")
}

func TestRowsAreAddedAndTakenAway(t *testing.T) {
	x, y := rows(150)
	few := must(FitModel(strings.Replace(fixed, "{", `{"keep":"sums",`, 1), data(x[:300], y[:100]), nil))
	rest := data(x[300:], y[100:])
	all := must(Update(few, "{}", rest, nil))
	again := must(Update(all, `{"remove":true}`, rest, nil))
	if few.Shape().Rows != 100 || all.Shape().Rows != 150 || again.Shape().Rows != 100 {
		t.Error("counts of rows")
	}
	if apart(values(all, x), values(few, x)) < 1e-6 || apart(values(again, x[:300]), values(few, x[:300])) > 1e-6 {
		t.Error("rows added, and taken away again")
	}
	without := failed(Update(must(FitModel(fixed, data(x, y), nil)), "{}", rest, nil))
	if !strings.Contains(without.Error(), "sums") {
		t.Error(without)
	}
}

func TestGroupsAndMapsAreGiven(t *testing.T) {
	x, y := rows(100)
	m := must(NewMap(`{"kernel":{"kernel":"gaussian","lengthscale":1},"inputs":3,"features":64,"seed":5}`))
	given := Data[float64]{X: Dense(x, 3), Y: Dense(y, 1), Map: m}
	model := must(FitModel(`{"lambda":1e-3}`, given, nil))
	if must(must(model.Map()).Spec()) != must(m.Spec()) || model.Shape().Features != 64 || model.Shape().Rows != 100 || !model.Shape().Linear {
		t.Errorf("%+v", model.Shape())
	}
	given.Groups = []float64{}
	refused(t, failed(FitModel("{}", given, nil)), DimensionMismatch, "0 groups")
	given.Groups = nil
	m.Close()
	refused(t, failed(FitModel("{}", given, nil)), "MERCER_INVALID_ARGUMENT", "Data.Map is closed")
	given = Data[float64]{X: Dense(x, 3), Y: Dense(y, 1), Groups: make([]float64, 100)}
	refused(t, failed(FitModel("{}", given, nil)), "MERCER_INVALID_ARGUMENT", "group")
	for i := range given.Groups {
		given.Groups[i] = float64(i / 5)
	}
	grouped := must(FitModel(`{"lambda":1e-3,"map":{"kernel":{"kernel":"gaussian","lengthscale":1},"features":32}}`, given, nil))
	if !strings.Contains(must(grouped.Text("report")), `"rows_are":"grouped"`) {
		t.Error(must(grouped.Text("report")))
	}
}

// blocks are 17 rows at a time, dense and sparse in turn, which fail after the first as fault says.
func blocks(x, y []float64, fault func() error) *Source[float64] {
	at := 0
	next := func() (Rows[float64], Rows[float64], error) {
		begin, end := at, at+17
		if end > len(y) {
			end = len(y)
		}
		at = end
		if begin > 0 && fault != nil {
			return Rows[float64]{}, Rows[float64]{}, fault()
		}
		if begin == end {
			return Rows[float64]{}, Rows[float64]{}, io.EOF
		}
		if begin/17%2 == 1 {
			return csr(x[3*begin : 3*end]), Dense(y[begin:end], 1), nil
		}
		return Dense(x[3*begin:3*end], 3), Dense(y[begin:end], 1), nil
	}
	return &Source[float64]{Inputs: 3, Targets: 1, Rewind: func() error { at = 0; return nil }, Next: next}
}

func TestASourceIsRead(t *testing.T) {
	x, y := rows(200)
	m, spec := must(NewMap(`{"kernel":{"kernel":"gaussian","lengthscale":1},"inputs":3,"features":64,"seed":5}`)), `{"precision":"f64","search":false,"lambda":1e-3}`
	memory := must(FitModel(spec, Data[float64]{X: Dense(x, 3), Y: Dense(y, 1), Map: m}, nil))
	fit := func(fault func() error) (*Model, error) {
		return FitModel(spec, Data[float64]{Source: blocks(x, y, fault), Map: m}, nil)
	}
	// Sums of n terms in another order differ by n 2^-52 of them, the inverse is at most 1/lambda, weights |y|/(2 sqrt lambda).
	rounding := 4 * 200 * math.Pow(2, -52) * 2 / math.Pow(1e-3, 1.5)
	if apart(values(memory, x), values(must(fit(nil)), x)) > rounding {
		t.Error("a source is not the same rows in memory")
	}
	shared := blocks(x, y, nil)
	shared.Sum = func(numbers []float64) error {
		for i := range numbers {
			numbers[i] *= 2 // the other process has equal rows
		}
		return nil
	}
	twice := must(FitModel(spec, Data[float64]{Source: shared, Map: m}, nil))
	if twice.Shape().Rows != 400 || apart(values(memory, x), values(twice, x)) > rounding {
		t.Error("twice the rows are another model")
	}
	fault, told := errors.New("of the disk"), 0
	broken := blocks(x, y, func() error { return fault })
	broken.Sum = func([]float64) error { told++; return nil }
	if _, err := FitModel(spec, Data[float64]{Source: broken, Map: m}, nil); !errors.Is(err, fault) || told < 2 {
		t.Error(err, told)
	}
	dropping := blocks(x, y, nil)
	dropping.Next = func() (Rows[float64], Rows[float64], error) { return Dense(x[:0], 3), Dense(y[:17], 1), nil }
	refused(t, failed(FitModel(spec, Data[float64]{Source: dropping, Map: m}, nil)), InvalidArgument, "source->next.n = 17")
	if panicked := panicOf(func() { _, _ = fit(func() error { panic("of the source") }) }); panicked != "of the source" {
		t.Error(panicked)
	}
	_, err := FitModel(spec, Data[float64]{X: Dense(x, 3), Y: Dense(y, 1), Source: blocks(x, y, nil)}, nil)
	refused(t, err, "MERCER_INVALID_ARGUMENT", "source")
	_, err = FitModel(spec, Data[float64]{Source: blocks(x, y, nil), Weights: y, Map: m}, nil)
	refused(t, err, InvalidArgument, "Source.Weighted")
	refused(t, failed(NewContext(Options{Threads: 1 << 33})), InvalidArgument, "Threads = 8589934592")
}

func TestSlopesAreLearntFrom(t *testing.T) {
	x, y := rows(60) // y = x_0 x_1
	some, slopes, m := Dense(x[:60], 3), make([]float64, 20), must(NewMap(spec))
	for i := range slopes {
		slopes[i] = x[3*i]
	}
	valuesOf := Observations[float64]{X: some, Y: Dense(y[:20], 1)}
	slopesOf := Observations[float64]{X: some, Y: Dense(slopes, 1), Partial: []int32{0, 1, 0}, Weight: 2, RowWeights: make([]float64, 20)}
	for i := range slopesOf.RowWeights {
		slopesOf.RowWeights[i] = 1
	}
	fit := func(sets ...Observations[float64]) (*Model, error) {
		return FitModel(`{"lambda":1e-8}`, Data[float64]{Sets: sets, Map: m}, nil)
	}
	worst := func(model *Model) (worst float64) {
		gradient := must(Predict(model, some, Ask{What: "gradient"}, nil))
		for i, slope := range slopes {
			worst = math.Max(worst, math.Abs(gradient[3*i+1]-slope))
		}
		return worst
	}
	if with, without := worst(must(fit(valuesOf, slopesOf))), worst(must(fit(valuesOf))); with > 0.05 || without < 0.1 {
		t.Error(with, without)
	}
	slopesOf.Partial = []int32{0, 1}
	refused(t, failed(fit(valuesOf, slopesOf)), DimensionMismatch, "Sets[1] has 2 orders")
}
