// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

import (
	"math"
	"testing"
)

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func waves(n int, rate float64) []float64 {
	made := make([]float64, n)
	for i := range made {
		made[i] = math.Cos(rate * float64(i))
	}
	return made
}

func near(t *testing.T, what string, a, b, most float64) {
	t.Helper()
	if !(math.Abs(a-b) <= most) {
		t.Fatalf("%s: %g, expected %g", what, a, b)
	}
}

func TestMeasuresAndProductsOfMaps(t *testing.T) {
	x, _ := rows(50)
	m := must(NewMap(spec))
	z, omega := must(Transform(m, Dense(x, 3), nil)), must(m.Frequencies())
	for f := 0; f < 256; f++ {
		near(t, "a cosine", z[f], math.Cos(dot(x[:3], omega[3*f:3*f+3]))/16, 1e-12)
	}
	v, g := waves(150, 1), waves(50*512, 0.3)
	tangents, pulled := must(JVP(m, Dense(x, 3), Dense(v, 3), nil)), must(VJP(m, Dense(x, 3), Dense(g, 512), nil))
	near(t, "the transpose", dot(tangents, g), dot(pulled, v), 1e-8)
	moved := make([]float64, len(x))
	for i := range x {
		moved[i] = x[i] + 1e-6*v[i]
	}
	after := must(Transform(m, Dense(moved, 3), nil))
	for i := range z {
		near(t, "a tangent", (after[i]-z[i])/1e-6, tangents[i], 1e-4)
	}
	k, off := must(Gram(must(m.Kernel()), Dense(x, 3), Dense(x, 3), nil)), 0.0
	for p := range k {
		off += math.Pow(dot(z[p/50*512:][:512], z[p%50*512:][:512])-k[p], 2)
	}
	near(t, "the error", must(KernelError(m, Dense(x, 3), false, nil)), math.Sqrt(off/dot(k, k)), 1e-9)
	if predicted := must(KernelError(m, Dense(x, 3), true, nil)); !(predicted > 0 && predicted < 0.2) {
		t.Fatalf("a predicted error of %g", predicted)
	}
}

func TestWeightsMakeThePredictions(t *testing.T) {
	x, y := rows(200)
	m := must(FitModel(`{"search":false,"precision":"f64","map":{"features":32}}`, data(x, y), nil))
	w, intercept, err := m.Weights()
	if err != nil {
		t.Fatal(err)
	}
	prepared := must(Predict(m, Dense(x, 3), Ask{What: "prepared"}, nil))
	z, f := must(Transform(must(m.Map()), Dense(prepared, 3), nil)), must(Predict(m, Dense(x, 3), Ask{What: "value"}, nil))
	for i := range f {
		near(t, "a value", f[i], dot(z[32*i:32*i+32], w)+intercept[0], 1e-9)
	}
}
