// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

// #include "calls.h"
import "C"

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

// Predict gives for each row the numbers of Ask{}, the values, or of Ask{What: "quantile", Quantiles: []float64{0.1, 0.9}}, ...
func Predict[T Number](m *Model, x Rows[T], ask Ask, context *Context) ([]float64, error) {
	if ask.What == "" {
		ask.What = "value"
	}
	handle, done := m.use()
	defer done()
	d, partials := modelShape(handle).Inputs, 0
	if d > 0 {
		partials = len(ask.Partials) / d
	}
	if partials*d != len(ask.Partials) {
		return nil, mismatch("Predict: Ask has %d orders of partials, expected one for every input of each", len(ask.Partials))
	}
	var outside []int64
	if ask.Outside != nil {
		outside = make([]int64, 3+d)
	}
	call := func(context *Context, asked []int64, columns int64, f []float64) error {
		return told("Predict: What", ask.What, func(what *C.char) error {
			return context.run(func(running *C.mercer_context) C.mercer_status {
				return C.go_predict(handle, x.view(), what, C.int32_t(ask.Extrapolation), address[C.int64_t](outside), C.int64_t(partials),
					address[C.int32_t](ask.Partials), C.int64_t(len(ask.Quantiles)), address[C.double](ask.Quantiles), C.int64_t(ask.Samples),
					C.uint64_t(ask.Seed), running, address[C.int64_t](asked), C.int64_t(columns), address[C.double](f))
			}, x.err)
		})
	}
	asked := make([]int64, 1)
	if err := call(nil, asked, 0, nil); err != nil {
		return nil, err
	}
	f, err := room[float64]("Predict", context, x.n, int(asked[0]))
	if err == nil {
		err = call(context, nil, asked[0], f)
	}
	if err != nil {
		return nil, err
	}
	if ask.Outside != nil {
		*ask.Outside = Outside{int(outside[0]), int(outside[1]), int(outside[2]), outside[3:]}
	}
	return f, nil
}
