// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

// #include "calls.h"
import "C"

import (
	"math"
	"runtime"
)

// Extrapolation is what becomes of an input outside the range of the training rows.
type Extrapolation int32

const (
	ExtrapolationDefault Extrapolation = C.MERCER_EXTRAPOLATION_DEFAULT // as the model was fitted
	ExtrapolationClip    Extrapolation = C.MERCER_EXTRAPOLATION_CLIP    // to the nearer end of its range
	ExtrapolationFree    Extrapolation = C.MERCER_EXTRAPOLATION_FREE
	ExtrapolationRefuse  Extrapolation = C.MERCER_EXTRAPOLATION_REFUSE // an error
)

// Outside is what a prediction met outside the range of the training rows.
type Outside struct {
	Rows, Values int     // rows with some input outside, and such inputs over all rows
	Limited      int     // predictions that were limited to the range of the targets
	Inputs       []int64 // for each input the rows in which it was outside
}

// Ask says what to predict; zeros are the defaults.
type Ask struct {
	What          string    // a word of mercer/model.h; "": "value"
	Quantiles     []float64 // levels of "quantile"
	Partials      []int32   // orders of "partials", for each an order for every input
	Samples       int       // draws of "sample"
	Seed          uint64    // of these
	Extrapolation Extrapolation
	Outside       *Outside // where to say what was outside
}

// columns are the numbers of a row; what the model does not know is left to C to refuse.
func (a *Ask) columns(m *Model, n int) (float64, error) {
	shape := m.Shape()
	d, outputs := float64(shape.Inputs), float64(shape.Outputs)
	switch a.What {
	case "class", "divergence", "potential", "stream":
		return 1, nil
	case "curl":
		return d * (d - 1) / 2, nil
	case "preimage":
		return d, nil
	case "prepared":
		prepared, err := m.Map()
		return float64(prepared.Shape().Inputs), err
	case "gradient", "gradient_variance", "hessian_diagonal":
		return outputs * d, nil
	case "covariance":
		return outputs * outputs, nil
	case "joint_covariance":
		return outputs * outputs * float64(n), nil
	case "quantile":
		return outputs * float64(len(a.Quantiles)), nil
	case "partials":
		return outputs * float64(len(a.Partials)) / d, nil
	case "sample":
		return outputs * math.Max(float64(a.Samples), 0), nil
	}
	return outputs, nil
}

// Predict gives for each row the numbers of Ask{}, the values, or of Ask{What: "quantile", Quantiles: []float64{0.1, 0.9}}, ...
func Predict[T Number](m *Model, x Rows[T], ask Ask, context *Context) ([]float64, error) {
	columns, err := ask.columns(m, x.n)
	if err != nil {
		return nil, err
	}
	if columns != math.Trunc(columns) {
		return nil, invalid("Ask has %d orders of partials, expected one for every input of each", len(ask.Partials))
	}
	if columns*float64(x.n) > 1<<44 {
		return nil, invalid("%g columns of %d rows, expected fewer numbers", columns, x.n)
	}
	if ask.What == "" {
		ask.What = "value"
	}
	f, cols, d := make([]float64, x.n*int(columns)), C.int64_t(columns), m.Shape().Inputs
	var outside []int64
	if ask.Outside != nil {
		outside = make([]int64, 3+d)
	}
	partials := 0
	if d > 0 {
		partials = len(ask.Partials) / d
	}
	defer runtime.KeepAlive(m)
	err = told(ask.What, func(what *C.char) error {
		return context.run(func(running *C.mercer_context) C.mercer_status {
			return C.go_predict(m.raw(), x.view(), what, C.int32_t(ask.Extrapolation), address[C.int64_t](outside), C.int64_t(partials),
				address[C.int32_t](ask.Partials), C.int64_t(len(ask.Quantiles)), address[C.double](ask.Quantiles), C.int64_t(ask.Samples),
				C.uint64_t(ask.Seed), running, cols, address[C.double](f))
		}, x.err)
	})
	if err != nil {
		return nil, err
	}
	if ask.Outside != nil {
		*ask.Outside = Outside{int(outside[0]), int(outside[1]), int(outside[2]), outside[3:]}
	}
	return f, nil
}
