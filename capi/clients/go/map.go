// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

// #include "calls.h"
import "C"

import "unsafe"

// Map is a feature map.
type Map struct{ held *held[*C.mercer_map] }

// Close frees the map; models made from it keep what they need.
func (m *Map) Close() {
	if m != nil {
		m.held.close()
	}
}

func (m *Map) use() (handle *C.mercer_map, done func()) {
	if m == nil {
		return nil, func() {}
	}
	return m.held.use()
}

func mapOf(call func(out **C.mercer_map) error) (*Map, error) {
	h, err := hold(func(handle *C.mercer_map) { C.mercer_map_free(handle) }, call)
	if err != nil {
		return nil, err
	}
	return &Map{h}, nil
}

// NewMap makes a map of its spec, such as {"kernel":{"kernel":"gaussian"},"inputs":3,"features":512}.
func NewMap(json string) (*Map, error) {
	return mapOf(func(out **C.mercer_map) error {
		return told("NewMap: json", json, func(c *C.char) error {
			return check(func() C.mercer_status { return C.mercer_map_from_spec(c, out) })
		})
	})
}

// FitMap makes a map that is learnt from rows, such as nystroem; y: none, or targets for one that learns from them.
func FitMap[T Number](json string, x Rows[T], y Rows[float64], context *Context) (*Map, error) {
	return mapOf(func(out **C.mercer_map) error {
		return told("FitMap: json", json, func(c *C.char) error {
			return context.run(func(running *C.mercer_context) C.mercer_status {
				return C.go_map_fit(c, x.view(), y.view(), running, out)
			}, x.err, y.err)
		})
	})
}

// LoadMap reads what Save wrote.
func LoadMap(path string) (*Map, error) {
	return mapOf(func(out **C.mercer_map) error {
		return told("LoadMap: path", path, func(c *C.char) error {
			return check(func() C.mercer_status { return C.mercer_map_read(c, nil, 0, out) })
		})
	})
}

// Save writes the map to a file.
func (m *Map) Save(path string) error {
	handle, done := m.use()
	defer done()
	return told("Map.Save: path", path, func(c *C.char) error {
		return check(func() C.mercer_status { return C.mercer_map_write(handle, c, nil, 0, nil) })
	})
}

// MarshalBinary gives what Save writes.
func (m *Map) MarshalBinary() ([]byte, error) {
	handle, done := m.use()
	defer done()
	return filled(func(buffer unsafe.Pointer, capacity C.int64_t, needed *C.int64_t) C.mercer_status {
		return C.mercer_map_write(handle, nil, buffer, capacity, needed)
	})
}

// UnmarshalBinary makes it the map of these bytes.
func (m *Map) UnmarshalBinary(bytes []byte) error {
	read, err := mapOf(func(out **C.mercer_map) error {
		return check(func() C.mercer_status {
			return C.mercer_map_read(nil, unsafe.Pointer(address[byte](bytes)), C.int64_t(len(bytes)), out)
		})
	})
	if err == nil {
		*m = *read
	}
	return err
}

// Spec is its JSON.
func (m *Map) Spec() (string, error) {
	handle, done := m.use()
	defer done()
	return text(func(buffer *C.char, capacity C.int64_t, needed *C.int64_t) C.mercer_status {
		return C.mercer_map_spec(handle, buffer, capacity, needed)
	})
}

// Kernel is the one that the features estimate.
func (m *Map) Kernel() (*Kernel, error) {
	handle, done := m.use()
	defer done()
	return kernelOf(func(out **C.mercer_kernel) error {
		return check(func() C.mercer_status { return C.mercer_map_kernel(handle, out) })
	})
}

// MapShape is what a map reads and writes.
type MapShape struct {
	Inputs, Outputs, Features int
	Complex                   bool
}

// Shape is what the map reads and writes.
func (m *Map) Shape() MapShape {
	handle, done := m.use()
	defer done()
	return mapShape(handle)
}

func mapShape(handle *C.mercer_map) MapShape {
	info := C.mercer_map_info{struct_size: C.sizeof_mercer_map_info}
	C.mercer_map_shape(handle, &info)
	return MapShape{int(info.inputs), int(info.outputs), int(info.features), info.is_complex != 0}
}

// Transform gives the features of rows, in their precision, row after row; of a complex map re and im in turn.
func Transform[T Number](m *Map, x Rows[T], context *Context) ([]T, error) {
	handle, done := m.use()
	defer done()
	shape := mapShape(handle)
	width := shape.Outputs * shape.Features
	if shape.Complex {
		width *= 2
	}
	z, err := room[T]("Transform", context, x.n, width)
	if err == nil {
		err = transformInto("Transform", handle, x, z, context)
	}
	return given(z, err)
}

// TransformInto writes the features into a slice of exactly as many numbers.
func TransformInto[T Number](m *Map, x Rows[T], z []T, context *Context) error {
	handle, done := m.use()
	defer done()
	return transformInto("TransformInto", handle, x, z, context)
}

func transformInto[T Number](function string, handle *C.mercer_map, x Rows[T], z []T, context *Context) error {
	shape, kind := mapShape(handle), number[T]()
	rows, parts := x.n*shape.Outputs, 1
	if shape.Complex {
		parts, kind = 2, kind+2 // C32 and C64 are two after F32 and F64
	}
	if x.err == nil && handle != nil && len(z) != rows*shape.Features*parts {
		return mismatch("%s: z has %d numbers, expected %d", function, len(z), rows*shape.Features*parts)
	}
	return context.run(func(running *C.mercer_context) C.mercer_status {
		return C.go_transform(handle, x.view(), running, kind, C.int64_t(rows), C.int64_t(shape.Features), address[C.char](z))
	}, x.err)
}

// CSR are sparse features: row i has Values[p] in column Indices[p] for p from Offsets[i] to Offsets[i+1].
type CSR struct {
	Offsets, Indices []int64
	Values           []float64
}

// TransformCSR gives the features of a map whose rows have few non-zeros, such as random_binning.
func TransformCSR[T Number](m *Map, x Rows[T], context *Context) (CSR, error) {
	var needed C.int64_t
	handle, done := m.use()
	defer done()
	err := context.run(func(running *C.mercer_context) C.mercer_status {
		return C.go_transform_csr(handle, x.view(), running, nil, nil, nil, 0, &needed)
	}, x.err)
	if err != nil {
		return CSR{}, err
	}
	z := CSR{make([]int64, x.n+1), make([]int64, needed), make([]float64, needed)}
	return given(z, context.run(func(running *C.mercer_context) C.mercer_status {
		return C.go_transform_csr(handle, x.view(), running, address[C.int64_t](z.Offsets), address[C.int64_t](z.Indices),
			address[C.double](z.Values), needed, nil)
	}))
}
