// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

// #include "calls.h"
import "C"

import (
	"io"
	"runtime/cgo"
	"unsafe"
)

// Data is what a model is fitted to: X with Y, as the model has targets; a source; or sets. Zeros are the defaults.
type Data[T Number] struct {
	X       Rows[T]
	Y       Rows[float64]
	Weights []float64         // a number >= 0 for each row
	Groups  []float64         // a number for each row: splits keep rows of the same number together
	Map     *Map              // used by the fit in place of a map of its spec
	Source  *Source[T]        // rows that are not in memory
	Sets    []Observations[T] // values and derivatives
}

// Source delivers rows block by block, as often as a fit reads them, while its caller waits. An error of its functions ends the fit,
// which returns it; a panic ends the fit, which panics with it.
type Source[T Number] struct {
	Inputs, Targets int
	Weighted        bool         // targets have one more column, the last, with the row weights
	Rewind          func() error // starts again at the first row
	// Next gives the next rows and their targets, some thousand at a time. io.EOF, beside the last rows or none, or no rows: the end.
	Next func() (Rows[T], Rows[float64], error)
	// Sum, where several processes share the rows, each with a source of its own, replaces each number by its sum over them, the same
	// bits in each.
	Sum func(numbers []float64) error
}

// Observations are noisy values Y of one partial derivative of a function at rows X.
type Observations[T Number] struct {
	X          Rows[T]
	Y          Rows[float64]
	Partial    []int32   // an order for each input; nil: the function itself
	Weight     float64   // > 0, of every row, such as 1 / variance of the noise; 0: 1
	RowWeights []float64 // a number >= 0 for each row
}

// reading is a source during a fit.
type reading struct {
	rewind  func() error
	next    func(x, y *C.mercer_rows) error
	sum     func(numbers []float64) error
	err     error
	outcome outcome
	lent    copies
}

func (s *Source[T]) reading() *reading {
	r, ended := &reading{sum: s.Sum}, false
	r.rewind = func() error {
		ended = false
		return s.Rewind()
	}
	r.next = func(x, y *C.mercer_rows) error {
		r.lent.free()
		if ended {
			return nil // both are empty views
		}
		rows, targets, err := s.Next()
		if ended = err == io.EOF; ended {
			err = nil
		}
		if err = faulty(err, rows.err, targets.err); err == nil && (rows.n > 0 || targets.n > 0) {
			*x, *y = lent(&r.lent, rows), lent(&r.lent, targets)
		}
		return err
	}
	return r
}

// failed runs a function of the source and keeps its first error: one that failed still has its sums added up, which tells the others.
func (r *reading) failed(call func() error) C.int32_t {
	var err error
	ran := r.outcome.ran
	if r.outcome.panicked {
		ran = new(outcome).ran
	}
	returned := ran(func() { err = call() })
	if r.err == nil {
		r.err = err
	}
	return flag(!returned || err != nil)
}

// copies are in memory of C: it may not be given pointers of Go but as arguments.
type copies struct{ made []unsafe.Pointer }

func (c *copies) free() {
	for _, memory := range c.made {
		C.free(memory)
	}
	c.made = nil
}

func copied[P, E any](to *copies, values []E) *P {
	if len(values) == 0 {
		return nil
	}
	memory := C.malloc(C.size_t(len(values)) * C.size_t(unsafe.Sizeof(values[0])))
	to.made = append(to.made, memory)
	copy(unsafe.Slice((*E)(memory), len(values)), values)
	return (*P)(memory)
}

func lent[T Number](to *copies, rows Rows[T]) C.mercer_rows {
	view := rows.view()
	view.values = copied[C.char](to, rows.values)
	view.offsets, view.indices = copied[C.int64_t](to, rows.offsets), copied[C.int64_t](to, rows.indices)
	return C.go_view(view)
}

func observed[T Number](to *copies, sets []Observations[T]) (*C.mercer_observations, error) {
	views := make([]C.mercer_observations, len(sets))
	for i, s := range sets {
		if err := faulty(s.X.err, s.Y.err); err != nil {
			return nil, err
		}
		if (s.Partial != nil && len(s.Partial) != s.X.d) || (s.RowWeights != nil && len(s.RowWeights) != s.X.n) {
			return nil, mismatch("FitModel: Data.Sets[%d] has %d orders and %d weights, expected one for each of %d inputs and of %d rows", i,
				len(s.Partial), len(s.RowWeights), s.X.d, s.X.n)
		}
		views[i] = C.mercer_observations{struct_size: C.sizeof_mercer_observations, weight: C.double(s.Weight),
			partial: copied[C.int32_t](to, s.Partial), X: lent(to, s.X), Y: lent(to, s.Y), row_weights: copied[C.double](to, s.RowWeights)}
		if s.Weight == 0 {
			views[i].weight = 1
		}
	}
	return copied[C.mercer_observations](to, views), nil
}

// faults are those that C would not see.
func (data *Data[T]) faults() error {
	for name, each := range map[string][]float64{"weights": data.Weights, "groups": data.Groups} {
		if each != nil && data.Source == nil && len(each) != data.X.n {
			return mismatch("FitModel: Data has %d %s, expected one for each of %d rows in memory", len(each), name, data.X.n)
		}
	}
	if s := data.Source; s != nil && (s.Rewind == nil || s.Next == nil) {
		return invalid("FitModel: Data.Source has no Rewind or no Next, expected both")
	}
	if data.Source != nil && data.Weights != nil {
		return invalid("FitModel: Data.Weights beside a Source, expected Source.Weighted, with the weights in a last column of its targets")
	}
	if data.Source != nil && data.Groups != nil {
		return invalid("FitModel: Data.Groups beside a Source, expected none")
	}
	return nil
}

// FitModel fits the model of a spec; {} searches whatever it leaves open.
func FitModel[T Number](json string, data Data[T], context *Context) (*Model, error) {
	if err := data.faults(); err != nil {
		return nil, err
	}
	features, done := data.Map.use()
	defer done()
	if data.Map != nil && features == nil {
		return nil, invalid("FitModel: Data.Map is closed, expected an open one")
	}
	source, handle := new(reading), cgo.Handle(0)
	defer func() { source.lent.free() }()
	var from Source[T]
	if data.Source != nil {
		from, source = *data.Source, data.Source.reading()
		handle = cgo.NewHandle(source)
		defer handle.Delete()
	}
	sets, err := observed(&source.lent, data.Sets)
	if err != nil {
		return nil, err
	}
	model, err := modelOf(func(out **C.mercer_model) error {
		return told("FitModel: json", json, func(c *C.char) error {
			return context.run(func(running *C.mercer_context) C.mercer_status {
				return C.go_model_fit(c, data.X.view(), data.Y.view(), address[C.double](data.Weights), column(data.Groups), features,
					C.uintptr_t(handle), C.int64_t(from.Inputs), C.int64_t(from.Targets), flag(from.Weighted), flag(from.Sum != nil),
					C.int64_t(len(data.Sets)), sets, running, out)
			}, data.X.err, data.Y.err)
		})
	})
	source.outcome.goOn() // the library has made no model
	return given(model, faulty(source.err, err))
}

// Update is the model of its rows, if its spec says {"keep": "sums"}, and of rows in memory; {"remove": true} takes these away,
// {"decay": 0.9} multiplies the weights of the rows before.
func Update[T Number](model *Model, json string, data Data[T], context *Context) (*Model, error) {
	if err := data.faults(); err != nil {
		return nil, err
	}
	if data.Source != nil || data.Sets != nil || data.Map != nil {
		return nil, invalid("Update: Data.Source, Sets or Map, expected rows in memory alone")
	}
	handle, done := model.use()
	defer done()
	return modelOf(func(out **C.mercer_model) error {
		return told("Update: json", json, func(c *C.char) error {
			return context.run(func(running *C.mercer_context) C.mercer_status {
				return C.go_model_update(handle, c, data.X.view(), data.Y.view(), address[C.double](data.Weights), column(data.Groups),
					running, out)
			}, data.X.err, data.Y.err)
		})
	})
}

func flag(is bool) C.int32_t {
	if is {
		return 1
	}
	return 0
}
