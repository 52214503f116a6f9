// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

// #include "calls.h"
import "C"

import (
	"io"
	"runtime"
	"runtime/cgo"
	"unsafe"
)

// Data is what a model is fitted to: X with Y, as the model has targets, or a source. Zeros are the defaults.
type Data[T Number] struct {
	X       Rows[T]
	Y       Rows[float64]
	Weights []float64  // a number >= 0 for each row
	Groups  []float64  // a number for each row: splits keep rows of the same number together
	Map     *Map       // the features of the fit, in place of its spec's
	Source  *Source[T] // rows that are not in memory
}

// Source delivers rows block by block, as often as a fit reads them, on its goroutine. An error of its functions ends the fit, which
// returns it; a panic goes on after it.
type Source[T Number] struct {
	Inputs, Targets int
	Weighted        bool         // targets have one more column, the last, with the row weights
	Rewind          func() error // starts again at the first row
	// Next gives the next rows and their targets, some thousand at a time; io.EOF, or no rows: the end.
	Next func() (Rows[T], Rows[float64], error)
}

// reading is a source during a fit.
type reading struct {
	rewind   func() error
	next     func(x, y *C.mercer_rows) error
	err      error
	panicked any
	x, y     copied
}

func (s *Source[T]) reading() *reading {
	r := &reading{rewind: s.Rewind}
	r.next = func(x, y *C.mercer_rows) error {
		rows, targets, err := s.Next()
		if err == io.EOF || (err == nil && rows.err == nil && rows.n == 0) {
			return nil // both are empty views
		}
		if err = faulty(err, rows.err, targets.err); err == nil {
			*x, *y = lent(&r.x, rows), lent(&r.y, targets)
		}
		return err
	}
	return r
}

// guarded runs a function of the source. Nothing may unwind through C.
func (r *reading) guarded(call func() error) (failed C.int32_t) {
	defer func() {
		if panicked := recover(); panicked != nil {
			r.panicked, failed = panicked, 1
		}
	}()
	if r.err = call(); r.err != nil {
		return 1
	}
	return 0
}

// copied is memory of C with rows of Go, which C may not keep after the callback that gives them.
type copied struct{ values, offsets, indices unsafe.Pointer }

func (c *copied) free() {
	for _, memory := range []unsafe.Pointer{c.values, c.offsets, c.indices} {
		C.free(memory)
	}
}

func lent[T Number](to *copied, rows Rows[T]) C.mercer_rows {
	view := rows.view()
	view.values = (*C.char)(copiedTo(&to.values, rows.values))
	if rows.offsets != nil {
		view.offsets = (*C.int64_t)(copiedTo(&to.offsets, rows.offsets))
		view.indices = (*C.int64_t)(copiedTo(&to.indices, rows.indices))
	}
	return C.go_view(view)
}

func copiedTo[E any](memory *unsafe.Pointer, values []E) unsafe.Pointer {
	var one E
	grown := C.realloc(*memory, C.size_t(len(values)+1)*C.size_t(unsafe.Sizeof(one)))
	if grown == nil {
		panic("mercer: out of memory")
	}
	*memory = grown
	copy(unsafe.Slice((*E)(grown), len(values)), values)
	return grown
}

// FitModel fits the model of a spec; {} searches whatever it leaves open.
func FitModel[T Number](json string, data Data[T], context *Context) (*Model, error) {
	if data.Weights != nil && len(data.Weights) != data.X.n {
		return nil, invalid("Data has %d weights, expected one for each of %d rows in memory", len(data.Weights), data.X.n)
	}
	if data.Map != nil && data.Map.raw() == nil {
		return nil, invalid("Data.Map is closed, expected an open one")
	}
	defer runtime.KeepAlive(data.Map)
	source, handle := new(reading), cgo.Handle(0)
	var inputs, targets, weighted int
	if data.Source != nil {
		source, inputs, targets = data.Source.reading(), data.Source.Inputs, data.Source.Targets
		if data.Source.Weighted {
			weighted = 1
		}
		handle = cgo.NewHandle(source)
		defer handle.Delete()
		defer source.x.free()
		defer source.y.free()
	}
	model, err := modelOf(func(out **C.mercer_model) error {
		return told(json, func(c *C.char) error {
			return context.run(func(running *C.mercer_context) C.mercer_status {
				return C.go_model_fit(c, data.X.view(), data.Y.view(), address[C.double](data.Weights), column(data.Groups), data.Map.raw(),
					C.uintptr_t(handle), C.int64_t(inputs), C.int64_t(targets), C.int32_t(weighted), running, out)
			}, data.X.err, data.Y.err)
		})
	})
	if source.panicked != nil {
		panic(source.panicked)
	}
	if source.err != nil {
		return nil, source.err
	}
	return model, err
}
