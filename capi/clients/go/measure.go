// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

// #include "calls.h"
import "C"

// Frequencies are those of Fourier features in the order of their columns, a row of as many numbers as there are inputs each.
func (m *Map) Frequencies() ([]float64, error) {
	handle, done := m.use()
	defer done()
	info := C.mercer_map_info{struct_size: C.sizeof_mercer_map_info}
	C.mercer_map_shape(handle, &info)
	omega := make([]float64, info.frequencies*info.inputs)
	return given(omega, check(func() C.mercer_status {
		return C.go_frequencies(handle, info.frequencies, info.inputs, address[C.double](omega))
	}))
}

// KernelError is the error of the kernel matrix of rows, ||ZZ' - K|| / ||K||: of this map, or predicted over seeds.
func KernelError[T Number](m *Map, x Rows[T], predicted bool, context *Context) (float64, error) {
	handle, done := m.use()
	defer done()
	which, found := C.int32_t(C.MERCER_KERNEL_ERROR_MEASURED), C.double(0)
	if predicted {
		which = C.MERCER_KERNEL_ERROR_PREDICTED
	}
	err := context.run(func(running *C.mercer_context) C.mercer_status {
		return C.go_kernel_error(handle, x.view(), which, running, &found)
	}, x.err)
	return float64(found), err
}

// JVP are the tangents of the features of a real map for tangents v of the rows x.
func JVP[T Number](m *Map, x, v Rows[T], context *Context) ([]T, error) {
	return derivativeProduct("JVP", m, C.MERCER_DERIVATIVE_JVP, x, v, false, context)
}

// VJP is dL/dx for g = dL/dZ.
func VJP[T Number](m *Map, x, g Rows[T], context *Context) ([]T, error) {
	return derivativeProduct("VJP", m, C.MERCER_DERIVATIVE_VJP, x, g, true, context)
}

func derivativeProduct[T Number](function string, m *Map, kind C.int32_t, x, v Rows[T], pulls bool, context *Context) ([]T, error) {
	handle, done := m.use()
	defer done()
	shape := mapShape(handle)
	rows, width := x.n*shape.Outputs, shape.Features
	if pulls {
		rows, width = x.n, shape.Inputs
	}
	out, err := room[T](function, context, rows, width)
	if err != nil {
		return nil, err
	}
	return given(out, context.run(func(running *C.mercer_context) C.mercer_status {
		return C.go_derivative(handle, x.view(), kind, v.view(), running, number[T](), C.int64_t(rows), C.int64_t(width), address[C.char](out))
	}, x.err, v.err))
}

// Weights are w, WeightRows x outputs, and the intercept of a linear model (mercer_model_weights).
func (m *Model) Weights() (w, intercept []float64, err error) {
	handle, done := m.use()
	defer done()
	shape := modelShape(handle)
	w, intercept = make([]float64, shape.WeightRows*shape.Outputs), make([]float64, shape.Outputs)
	err = check(func() C.mercer_status {
		return C.go_weights(handle, C.int64_t(shape.WeightRows), C.int64_t(shape.Outputs), address[C.double](w), address[C.double](intercept))
	})
	return w, intercept, err
}
