// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

// Ridge regression on random features, its file, what an error says. Run: go run ./examples/ridge [FILE]
package main

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"os"

	"mercer"
)

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
	state := uint64(1)
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range x { // multiples of 1/512, so that targets have the same bits in every language
		state = state*6364136223846793005 + 1442695040888963407
		x[i] = float64(state>>54)/512 - 1
	}
	for i := range y {
		y[i] = x[i*d]*x[i*d] + x[i*d+1]*x[i*d+2]
	}
	// "{}" would search map, kernel, lengthscales and lambda.
	features := mercer.AutoMap{Kernel: mercer.GaussianKernel{Lengthscale: mercer.Numbers{0.7}}, Features: 512}
	fit := mercer.RidgeModel{Fit: mercer.Fit{Map: features, Search: mercer.Given(false)}, Lambda: mercer.Given(1e-6)}
	model := must(mercer.FitModel(must(mercer.Spec(fit)), mercer.Data[float64]{X: mercer.Dense(x, d), Y: mercer.Dense(y, 1)}, nil))
	must(0, model.Save(path))
	predictions := must(mercer.Predict(must(mercer.LoadModel(path)), mercer.Dense(x, d), mercer.Ask{}, nil))
	hash := fnv.New64a() // clients in other languages print the same
	must(0, binary.Write(hash, binary.LittleEndian, predictions))
	fmt.Printf("predictions %016x\n", hash.Sum64())
	residual, squares := 0.0, 0.0
	for i, f := range predictions {
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
