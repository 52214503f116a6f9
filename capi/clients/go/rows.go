// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

// #include "calls.h"
import "C"

import "unsafe"

// Number is float32 or float64.
type Number interface{ ~float32 | ~float64 }

func number[T Number]() C.int32_t {
	if unsafe.Sizeof(T(0)) == 4 {
		return C.MERCER_NUMBER_F32
	}
	return C.MERCER_NUMBER_F64
}

// address is that of the first element as C has it, or NULL.
func address[P, T any](values []T) *P {
	if len(values) == 0 {
		return nil
	}
	return (*P)(unsafe.Pointer(&values[0]))
}

// Rows are rows of numbers in slices, which are read in place; the zero value: none.
type Rows[T Number] struct {
	values           []T
	offsets, indices []int64
	n, d             int
	err              error // told by the first call that is given them
}

// Dense are rows of d numbers, one after the other.
func Dense[T Number](values []T, d int) Rows[T] {
	if d < 1 || len(values)%d != 0 {
		return Rows[T]{err: invalid("Dense: %d numbers of rows of d = %d, expected whole rows of 1 number or more", len(values), d)}
	}
	return Rows[T]{values: values, n: len(values) / d, d: d}
}

// Sparse are CSR rows of d: row i has values[p] in column indices[p] for p from offsets[i] to offsets[i+1].
func Sparse[T Number](values []T, offsets, indices []int64, d int) Rows[T] {
	if len(offsets) == 0 || len(values) != len(indices) || d < 1 {
		return Rows[T]{err: invalid("Sparse: %d offsets, %d values and %d indices of rows of %d, expected one offset more than there "+
			"are rows, and as many indices as values", len(offsets), len(values), len(indices), d)}
	}
	return Rows[T]{values, offsets, indices, len(offsets) - 1, d, nil}
}

// Count is the number of rows.
func (r Rows[T]) Count() int { return r.n }

func (r Rows[T]) view() C.go_rows {
	return C.go_rows{number[T](), C.int64_t(r.n), C.int64_t(r.d), C.int64_t(len(r.values)), address[C.char](r.values),
		address[C.int64_t](r.offsets), address[C.int64_t](r.indices)}
}

// column has a number for each row, or is absent.
func column(values []float64) C.go_rows {
	if len(values) == 0 {
		return Rows[float64]{}.view()
	}
	return Dense(values, 1).view()
}

// RowsTest answers, in JSON, a test of rows: "mmd", "block_mmd", "kid" or "hsic" (mercer/rows_test.h).
func RowsTest[T, U Number](json string, x Rows[T], y Rows[U], context *Context) (string, error) {
	buffer, needed := make([]byte, 1<<15), C.int64_t(0)
	err := told("RowsTest: json", json, func(c *C.char) error {
		for {
			err := context.run(func(running *C.mercer_context) C.mercer_status {
				return C.go_rows_test(c, x.view(), y.view(), running, address[C.char](buffer), C.int64_t(len(buffer)), &needed)
			}, x.err, y.err)
			if int(needed) <= len(buffer) {
				return err
			}
			buffer = make([]byte, needed) // the size of a long answer is known after the test
		}
	})
	if err != nil {
		return "", err
	}
	return string(buffer[:needed-1]), nil
}

// LengthscaleMedian is the median of the distances between rows, of at most maxPairs pairs, which seed draws if there are more.
func LengthscaleMedian[T Number](x Rows[T], maxPairs int, seed uint64, context *Context) (float64, error) {
	var median C.double
	err := context.run(func(running *C.mercer_context) C.mercer_status {
		return C.go_lengthscale_median(x.view(), C.int64_t(maxPairs), C.uint64_t(seed), running, &median)
	}, x.err)
	return float64(median), err
}
