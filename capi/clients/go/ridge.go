// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

// Gaussian ridge regression on random Fourier features, in Go by cgo: map, statistics by blocks of rows, ridge,
// prediction; how far the features are from the exact kernel; a file; what an error says. A goroutine may change its
// thread between two calls, so texts of errors come from the context of a call, never from the thread.
// Build: go build ridge.go    Usage: ridge [FILE]
package main

// #cgo pkg-config: mercer
// #include <mercer/mercer.h>
// #include <stdlib.h>
import "C"

import (
	"fmt"
	"math"
	"os"
	"strings"
	"unsafe"
)

const (
	n, d, features, block, probes = 2000, 3, 512, 256, 50
)

// array is memory of C's: a view with a pointer to Go's own may not be passed to C.
type array []float64

func newArray(count int) array {
	return unsafe.Slice((*float64)(C.calloc(C.size_t(count), 8)), count)
}

func (a array) free()                   { C.free(unsafe.Pointer(&a[0])) }
func (a array) data() *C.double         { return (*C.double)(unsafe.Pointer(&a[0])) }

func (a array) rows(columns int) C.mercer_rows {
	return C.mercer_rows_f64(C.int64_t(len(a)/columns), C.int64_t(columns), a.data())
}

func (a array) matrix(columns int) C.mercer_matrix {
	return C.mercer_matrix_f64(C.int64_t(len(a)/columns), C.int64_t(columns), a.data())
}

// check panics where a call without a context failed: its status says why.
func check(status C.mercer_status) {
	if status != C.MERCER_OK {
		panic(C.GoString(C.mercer_status_name(status)))
	}
}

// failure is the error of a call that used the context: it names function, argument, value and expectation.
func failure(context *C.mercer_context, status C.mercer_status) error {
	if status == C.MERCER_OK {
		return nil
	}
	var needed C.int64_t
	check(C.mercer_context_error(context, nil, 0, &needed))
	text := (*C.char)(C.malloc(C.size_t(needed)))
	defer C.free(unsafe.Pointer(text))
	check(C.mercer_context_error(context, text, needed, &needed))
	return fmt.Errorf("%s: %s", C.GoString(C.mercer_status_name(status)), C.GoString(text))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func transform(m *C.mercer_map, context *C.mercer_context, x array, inputs int, z array) error {
	rows, out := x.rows(inputs), z.matrix(features)
	return failure(context, C.mercer_map_transform(m, rows, nil, context, out))
}

// fit gives weights and intercept from statistics added up block by block, so that one block of features is in memory.
func fit(m *C.mercer_map, context *C.mercer_context, x, y, w array) float64 {
	var statistics *C.mercer_statistics
	check(C.mercer_statistics_create(features, 1, &statistics))
	defer C.mercer_statistics_free(statistics)
	buffer := newArray(block * features)
	defer buffer.free()
	for i := 0; i < n; i += block {
		end := i + block
		if end > n {
			end = n
		}
		z := buffer[:(end-i)*features]
		must(transform(m, context, x[i*d:end*d], d, z))
		zRows, yRows := z.rows(features), y[i:end].rows(1)
		must(failure(context, C.mercer_statistics_add(statistics, 1, zRows, yRows, context)))
	}
	var ridge *C.mercer_ridge
	must(failure(context, C.mercer_ridge_create(statistics, 1, context, &ridge)))
	defer C.mercer_ridge_free(ridge)
	intercept := newArray(1)
	defer intercept.free()
	check(C.mercer_ridge_solve(ridge, 1e-6, w.matrix(1), intercept.matrix(1)))
	return intercept[0]
}

func dot(a, b array) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// kernelError is the largest |z(x)'z(y) - k(x, y)| over pairs of the first rows.
func kernelError(kernel *C.mercer_kernel, context *C.mercer_context, x, z array) float64 {
	k := newArray(probes * probes)
	defer k.free()
	rows, out := x[:probes*d].rows(d), k.matrix(probes)
	must(failure(context, C.mercer_kernel_gram(kernel, rows, rows, C.mercer_rows{}, context, out)))
	worst := 0.0
	for i := 0; i < probes; i++ {
		for j := 0; j < probes; j++ {
			estimate := dot(z[i*features:(i+1)*features], z[j*features:(j+1)*features])
			worst = math.Max(worst, math.Abs(estimate-k[i*probes+j]))
		}
	}
	return worst
}

// problem fills rows with numbers in [-1, 1), the same everywhere, and gives each its target.
func problem(x, y array) {
	state := uint64(1)
	for i := range x {
		state = state*6364136223846793005 + 1442695040888963407
		x[i] = float64(state>>11)/4503599627370496.0 - 1
	}
	for i := range y {
		y[i] = math.Sin(3*x[i*d]) + x[i*d+1]*x[i*d+2]
	}
}

// reloaded tells whether the map read back from a file gives the same features.
func reloaded(m *C.mercer_map, context *C.mercer_context, path string, x, z array) bool {
	file := C.CString(path)
	defer C.free(unsafe.Pointer(file))
	check(C.mercer_map_write(m, file, nil, 0, nil))
	var loaded *C.mercer_map
	check(C.mercer_map_read(file, nil, 0, &loaded))
	defer C.mercer_map_free(loaded)
	again := newArray(len(z))
	defer again.free()
	must(transform(loaded, context, x, d, again))
	for i := range z {
		if again[i] != z[i] {
			return false
		}
	}
	return true
}

func main() {
	path := "ridge_go.mercer"
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	x, y, z, w := newArray(n*d), newArray(n), newArray(n*features), newArray(features)
	defer func() { x.free(); y.free(); z.free(); w.free() }()
	problem(x, y)

	var context *C.mercer_context
	check(C.mercer_context_create(nil, &context))
	defer C.mercer_context_free(context)
	spec := C.CString(fmt.Sprintf(`{"map":"fourier","kernel":{"kernel":"gaussian","lengthscale":0.7},`+
		`"inputs":%d,"features":%d,"seed":42}`, d, features))
	defer C.free(unsafe.Pointer(spec))
	var m *C.mercer_map
	check(C.mercer_map_from_spec(spec, &m))
	defer C.mercer_map_free(m)
	var kernel *C.mercer_kernel
	check(C.mercer_map_kernel(m, &kernel))
	defer C.mercer_kernel_free(kernel)

	intercept := fit(m, context, x, y, w)
	must(transform(m, context, x, d, z))
	residual := 0.0
	for i := range y {
		residual += math.Pow(y[i]-intercept-dot(z[i*features:(i+1)*features], w), 2)
	}
	relative := math.Sqrt(residual / dot(y, y))
	worst := kernelError(kernel, context, x, z)
	fmt.Printf("relative error %.2e, largest kernel error %.3f\n", relative, worst)
	same := reloaded(m, context, path, x, z)

	refused := transform(m, context, x[:2*probes], 2, z[:probes*features]) // rows of two numbers
	fmt.Println("an error says:", refused)
	named := refused != nil && strings.Contains(refused.Error(), "mercer_map_transform")
	// Six standard deviations of the pair form, which is at most sqrt(1.5/D): 2500 pairs stay below.
	if !(relative < 0.01 && worst < 6*math.Sqrt(1.5/features) && same && named) {
		os.Exit(1)
	}
}
