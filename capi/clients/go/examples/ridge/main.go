// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

// Ridge regression on random features, its file, what an error says. Run: go run ./examples/ridge [FILE]
package main

import (
	"fmt"
	"math"
	"math/rand"
	"os"

	"mercer"
)

// {} would search map, kernel, lengthscales and lambda.
const fit = `{"map":{"kernel":{"kernel":"gaussian","lengthscale":0.7},"features":512},"search":false}`

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func main() {
	path := "ridge_go.mercer"
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	const n, d = 2000, 3
	random := rand.New(rand.NewSource(1))
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range x {
		x[i] = 2*random.Float64() - 1
	}
	for i := range y {
		y[i] = math.Sin(3*x[i*d]) + x[i*d+1]*x[i*d+2]
	}
	model := must(mercer.FitModel(fit, x, d, y, nil, nil))
	must(0, model.Save(path))
	residual, squares := 0.0, 0.0
	for i, f := range must(mercer.Predict(must(mercer.LoadModel(path)), x, d, "value", 1, nil)) {
		residual += (y[i] - f) * (y[i] - f)
		squares += y[i] * y[i]
	}
	relative := math.Sqrt(residual / squares)
	fmt.Printf("relative error %.2e\n", relative)
	_, err := mercer.NewMap(`{"kernel":{"kernel":"gaussian"},"inputs":-3,"features":8}`)
	fmt.Println("an error says:", err)
	if err == nil || relative > 0.02 {
		os.Exit(1)
	}
}
