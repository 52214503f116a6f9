// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

// Milliseconds that 4,096 features of rows of 64 take, the least of so many calls, for bench/clients.py.
// Run: go run ./examples/transform ROWS CALLS
package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

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
	n, calls := must(strconv.Atoi(os.Args[1])), must(strconv.Atoi(os.Args[2]))
	x, z := make([]float32, n*64), make([]float32, n*4096)
	for i := range x {
		x[i] = float32(i*7919%1024)/512 - 1
	}
	m := must(mercer.NewMap(`{"kernel":{"kernel":"gaussian","lengthscale":8},"inputs":64,"features":4096,"seed":1}`))
	must(0, mercer.TransformInto(m, mercer.Dense(x, 64), z, nil)) // draws the frequencies
	least := math.Inf(1)
	for call := 0; call < calls; call++ {
		start := time.Now()
		must(0, mercer.TransformInto(m, mercer.Dense(x, 64), z, nil))
		least = math.Min(least, time.Since(start).Seconds()*1e3)
	}
	fmt.Printf("%.4f\n", least)
}
