// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

// #include <mercer/mercer.h>
// #include <stdlib.h>
// /* Views hold pointers to memory of Go, which C may not keep and Go may not store: they are made here, from plain arguments. */
// static mercer_status go_gram(const mercer_kernel* k, int32_t number, int64_t d, int64_t n, const void* X, int64_t m, const void* Y,
//                              mercer_context* context, double* K) {
//   mercer_rows none = {0};
//   return mercer_kernel_gram(k, mercer_rows_dense(number, n, d, X), mercer_rows_dense(number, m, d, Y), none, context,
//                             mercer_matrix_f64(n, m, K));
// }
// static mercer_status go_map_fit(const char* json, int32_t number, int64_t n, int64_t d, const void* X, mercer_context* context,
//                                 mercer_map** out) {
//   mercer_map_data data = {.struct_size = sizeof data, .X = mercer_rows_dense(number, n, d, X)};
//   return mercer_map_fit(json, &data, context, out);
// }
// static mercer_status go_transform(const mercer_map* map, int32_t number, int64_t n, int64_t d, const void* X,
//                                   mercer_context* context, int32_t result, int64_t rows, int64_t cols, void* Z) {
//   return mercer_map_transform(map, mercer_rows_dense(number, n, d, X), 0, context, mercer_matrix_of(result, rows, cols, Z));
// }
// static mercer_status go_model_fit(const char* json, int32_t number, int64_t n, int64_t d, const void* X, int64_t m, const double* Y,
//                                   const double* weights, mercer_context* context, mercer_model** out) {
//   mercer_data data = {.struct_size = sizeof data, .X = mercer_rows_dense(number, n, d, X), .weights = weights};
//   if (m > 0) data.Y = mercer_rows_f64(n, m, Y);
//   return mercer_model_fit(json, &data, context, out);
// }
// static mercer_status go_predict(const mercer_model* model, int32_t number, int64_t n, int64_t d, const void* X, const char* what,
//                                 mercer_context* context, int64_t cols, double* f) {
//   return mercer_model_predict(model, mercer_rows_dense(number, n, d, X), what, 0, context, mercer_matrix_f64(n, cols, f));
// }
import "C"

import (
	"math"
	"runtime"
	"unsafe"
)

// Kernel is an exact kernel.
type Kernel struct{ handle *C.mercer_kernel }

// Map is a feature map.
type Map struct{ handle *C.mercer_map }

// Model is preparation, map and weights.
type Model struct{ handle *C.mercer_model }

// Close frees the kernel; so does the collector.
func (k *Kernel) Close() {
	if k != nil {
		C.mercer_kernel_free(k.handle)
		k.handle = nil
	}
}

// Close frees the map; models made from it keep what they need.
func (m *Map) Close() {
	if m != nil {
		C.mercer_map_free(m.handle)
		m.handle = nil
	}
}

// Close frees the model.
func (m *Model) Close() {
	if m != nil {
		C.mercer_model_free(m.handle)
		m.handle = nil
	}
}

// What C is given: NULL, which it refuses, for nil and what is closed.
func (k *Kernel) raw() *C.mercer_kernel {
	if k == nil {
		return nil
	}
	return k.handle
}

func (m *Map) raw() *C.mercer_map {
	if m == nil {
		return nil
	}
	return m.handle
}

func (m *Model) raw() *C.mercer_model {
	if m == nil {
		return nil
	}
	return m.handle
}

func kernelOf(handle *C.mercer_kernel, err error) (*Kernel, error) {
	if err != nil {
		return nil, err
	}
	k := &Kernel{handle}
	runtime.SetFinalizer(k, (*Kernel).Close)
	return k, nil
}

func mapOf(handle *C.mercer_map, err error) (*Map, error) {
	if err != nil {
		return nil, err
	}
	m := &Map{handle}
	runtime.SetFinalizer(m, (*Map).Close)
	return m, nil
}

func modelOf(handle *C.mercer_model, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	m := &Model{handle}
	runtime.SetFinalizer(m, (*Model).Close)
	return m, nil
}

// NewKernel makes a kernel of its spec, such as {"kernel":"matern","lengthscale":2}.
func NewKernel(json string) (*Kernel, error) {
	c, err := cString(json)
	if err != nil {
		return nil, err
	}
	defer C.free(unsafe.Pointer(c))
	var handle *C.mercer_kernel
	err = check(func() C.mercer_status { return C.mercer_kernel_from_spec(c, &handle) })
	return kernelOf(handle, err)
}

// Gram is K(x, y) of a kernel of one output, row after row, for rows of d numbers.
func Gram[T Number](k *Kernel, x, y []T, d int, context *Context) ([]float64, error) {
	n, err := rowsOf("x", x, d)
	if err != nil {
		return nil, err
	}
	m, err := rowsOf("y", y, d)
	if err != nil {
		return nil, err
	}
	K := make([]float64, n*m)
	err = context.run(func(running *C.mercer_context) C.mercer_status {
		return C.go_gram(k.raw(), number[T](), C.int64_t(d), n, address(x), m, address(y), running, (*C.double)(address(K)))
	})
	runtime.KeepAlive(k)
	return K, err
}

// NewMap makes a map of its spec, such as {"kernel":{"kernel":"gaussian"},"inputs":3,"features":512}.
func NewMap(json string) (*Map, error) {
	c, err := cString(json)
	if err != nil {
		return nil, err
	}
	defer C.free(unsafe.Pointer(c))
	var handle *C.mercer_map
	err = check(func() C.mercer_status { return C.mercer_map_from_spec(c, &handle) })
	return mapOf(handle, err)
}

// FitMap makes a map that is learnt from rows of d numbers, such as nystroem.
func FitMap[T Number](json string, x []T, d int, context *Context) (*Map, error) {
	n, err := rowsOf("x", x, d)
	if err != nil {
		return nil, err
	}
	c, err := cString(json)
	if err != nil {
		return nil, err
	}
	defer C.free(unsafe.Pointer(c))
	var handle *C.mercer_map
	err = context.run(func(running *C.mercer_context) C.mercer_status {
		return C.go_map_fit(c, number[T](), n, C.int64_t(d), address(x), running, &handle)
	})
	return mapOf(handle, err)
}

// LoadMap reads what Save wrote.
func LoadMap(path string) (*Map, error) {
	c, err := cString(path)
	if err != nil {
		return nil, err
	}
	defer C.free(unsafe.Pointer(c))
	var handle *C.mercer_map
	err = check(func() C.mercer_status { return C.mercer_map_read(c, nil, 0, &handle) })
	return mapOf(handle, err)
}

// Save writes the map to a file.
func (m *Map) Save(path string) error {
	c, err := cString(path)
	if err != nil {
		return err
	}
	defer C.free(unsafe.Pointer(c))
	defer runtime.KeepAlive(m)
	return check(func() C.mercer_status { return C.mercer_map_write(m.raw(), c, nil, 0, nil) })
}

// Kernel is the one that the features estimate.
func (m *Map) Kernel() (*Kernel, error) {
	var handle *C.mercer_kernel
	err := check(func() C.mercer_status { return C.mercer_map_kernel(m.raw(), &handle) })
	runtime.KeepAlive(m)
	return kernelOf(handle, err)
}

// MapShape is what a map reads and writes.
type MapShape struct {
	Inputs, Outputs, Features int
	Complex                   bool
}

// Shape is what the map reads and writes.
func (m *Map) Shape() MapShape {
	info := C.mercer_map_info{struct_size: C.sizeof_mercer_map_info}
	C.mercer_map_shape(m.raw(), &info)
	runtime.KeepAlive(m)
	return MapShape{int(info.inputs), int(info.outputs), int(info.features), info.is_complex != 0}
}

// Transform gives the features of rows of d numbers, in their precision, row after row; of a complex map re and im in turn.
func Transform[T Number](m *Map, x []T, d int, context *Context) ([]T, error) {
	n, err := rowsOf("x", x, d)
	if err != nil {
		return nil, err
	}
	shape := m.Shape()
	width := shape.Outputs * shape.Features
	if shape.Complex {
		width *= 2
	}
	z := make([]T, int(n)*width)
	return z, TransformInto(m, x, d, z, context)
}

// TransformInto writes the features into a slice of exactly as many numbers.
func TransformInto[T Number](m *Map, x []T, d int, z []T, context *Context) error {
	n, err := rowsOf("x", x, d)
	if err != nil {
		return err
	}
	shape, kind := m.Shape(), number[T]()
	rows, parts := int(n)*shape.Outputs, 1
	if shape.Complex {
		parts, kind = 2, kind+2 // C32 and C64 are two after F32 and F64
	}
	if len(z) != rows*shape.Features*parts {
		return invalid("z has %d numbers, expected %d", len(z), rows*shape.Features*parts)
	}
	defer runtime.KeepAlive(m)
	return context.run(func(running *C.mercer_context) C.mercer_status {
		return C.go_transform(m.raw(), number[T](), n, C.int64_t(d), address(x), running, kind, C.int64_t(rows),
			C.int64_t(shape.Features), address(z))
	})
}

// FitModel fits the model of a spec to rows of d numbers and targets, as many for each row; {} searches whatever it leaves open.
// weights: a number for each row, or nil.
func FitModel[T Number](json string, x []T, d int, y, weights []float64, context *Context) (*Model, error) {
	n, err := rowsOf("x", x, d)
	if err != nil {
		return nil, err
	}
	if n == 0 || len(y)%int(n) != 0 || (weights != nil && len(weights) != int(n)) {
		return nil, invalid("%d targets and %d weights for %d rows, expected as many for each row", len(y), len(weights), n)
	}
	c, err := cString(json)
	if err != nil {
		return nil, err
	}
	defer C.free(unsafe.Pointer(c))
	var handle *C.mercer_model
	// Go pointers may be arguments, not parts of what is pointed to: rows are pinned here for the length of the call.
	err = context.run(func(running *C.mercer_context) C.mercer_status {
		return C.go_model_fit(c, number[T](), n, C.int64_t(d), address(x), C.int64_t(len(y)/int(n)), (*C.double)(address(y)),
			(*C.double)(address(weights)), running, &handle)
	})
	return modelOf(handle, err)
}

// LoadModel reads what Save wrote.
func LoadModel(path string) (*Model, error) {
	c, err := cString(path)
	if err != nil {
		return nil, err
	}
	defer C.free(unsafe.Pointer(c))
	var handle *C.mercer_model
	err = check(func() C.mercer_status { return C.mercer_model_read(c, nil, 0, &handle) })
	return modelOf(handle, err)
}

// Save writes the model to a file.
func (m *Model) Save(path string) error {
	c, err := cString(path)
	if err != nil {
		return err
	}
	defer C.free(unsafe.Pointer(c))
	defer runtime.KeepAlive(m)
	return check(func() C.mercer_status { return C.mercer_model_write(m.raw(), c, nil, 0, nil) })
}

// Text is "spec", "report" or "metadata".
func (m *Model) Text(what string) (string, error) {
	c, err := cString(what)
	if err != nil {
		return "", err
	}
	defer C.free(unsafe.Pointer(c))
	defer runtime.KeepAlive(m)
	return text(func(buffer *C.char, capacity C.int64_t, needed *C.int64_t) C.mercer_status {
		return C.mercer_model_text(m.raw(), c, buffer, capacity, needed)
	})
}

// Predict gives columns numbers for each row: "value", "class", "probability", "predictive_variance", ... (mercer/model.h).
func Predict[T Number](m *Model, x []T, d int, what string, columns int, context *Context) ([]float64, error) {
	n, err := rowsOf("x", x, d)
	if err != nil {
		return nil, err
	}
	if columns < 0 || (n > 0 && columns > math.MaxInt/8/int(n)) {
		return nil, invalid("columns = %d, expected >= 0 that fit %d rows", columns, n)
	}
	c, err := cString(what)
	if err != nil {
		return nil, err
	}
	defer C.free(unsafe.Pointer(c))
	f := make([]float64, int(n)*columns)
	defer runtime.KeepAlive(m)
	return f, context.run(func(running *C.mercer_context) C.mercer_status {
		return C.go_predict(m.raw(), number[T](), n, C.int64_t(d), address(x), c, running, C.int64_t(columns), (*C.double)(address(f)))
	})
}
