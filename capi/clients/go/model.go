// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

// #include "calls.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// Model is preparation, map and weights.
type Model struct{ held *held[*C.mercer_model] }

// Close frees the model.
func (m *Model) Close() {
	if m != nil {
		m.held.close()
	}
}

func (m *Model) raw() *C.mercer_model {
	if m == nil {
		return nil
	}
	return m.held.get()
}

func modelOf(call func(out **C.mercer_model) error) (*Model, error) {
	h, err := hold(func(handle *C.mercer_model) { C.mercer_model_free(handle) }, call)
	if err != nil {
		return nil, err
	}
	return &Model{h}, nil
}

// LoadModel reads what Save wrote.
func LoadModel(path string) (*Model, error) {
	return modelOf(func(out **C.mercer_model) error {
		return told(path, func(c *C.char) error {
			return check(func() C.mercer_status { return C.mercer_model_read(c, nil, 0, out) })
		})
	})
}

// Save writes the model to a file.
func (m *Model) Save(path string) error {
	defer runtime.KeepAlive(m)
	return told(path, func(c *C.char) error {
		return check(func() C.mercer_status { return C.mercer_model_write(m.raw(), c, nil, 0, nil) })
	})
}

// MarshalBinary gives what Save writes.
func (m *Model) MarshalBinary() ([]byte, error) {
	defer runtime.KeepAlive(m)
	return filled(func(buffer unsafe.Pointer, capacity C.int64_t, needed *C.int64_t) C.mercer_status {
		return C.mercer_model_write(m.raw(), nil, buffer, capacity, needed)
	})
}

// UnmarshalBinary makes it the model of these bytes.
func (m *Model) UnmarshalBinary(bytes []byte) error {
	read, err := modelOf(func(out **C.mercer_model) error {
		return check(func() C.mercer_status {
			return C.mercer_model_read(nil, unsafe.Pointer(address[byte](bytes)), C.int64_t(len(bytes)), out)
		})
	})
	if err == nil {
		*m = *read
	}
	return err
}

// Text is "spec", "report" or "metadata".
func (m *Model) Text(what string) (said string, err error) {
	defer runtime.KeepAlive(m)
	err = told(what, func(c *C.char) (err error) {
		said, err = text(func(buffer *C.char, capacity C.int64_t, needed *C.int64_t) C.mercer_status {
			return C.mercer_model_text(m.raw(), c, buffer, capacity, needed)
		})
		return err
	})
	return said, err
}

// SetMetadata keeps a text, such as the names of columns, with the model and its file; nobody else may use the model meanwhile.
func (m *Model) SetMetadata(text string) error {
	defer runtime.KeepAlive(m)
	return told(text, func(c *C.char) error {
		return check(func() C.mercer_status { return C.mercer_model_set_metadata(m.raw(), c) })
	})
}

// Map is that of rows as Predict gives them for "prepared".
func (m *Model) Map() (*Map, error) {
	defer runtime.KeepAlive(m)
	return mapOf(func(out **C.mercer_map) error {
		return check(func() C.mercer_status { return C.mercer_model_map(m.raw(), out) })
	})
}

// ModelShape is what a model was fitted to, reads and writes.
type ModelShape struct {
	Rows, Inputs, Outputs, Features int
	Classes                         int // 0: a regression
	Penalty                         float64
	Probabilities, Linear           bool // whether Predict knows "probability", whether there are weights
}

// Shape is what the model was fitted to, reads and writes.
func (m *Model) Shape() ModelShape {
	info := C.mercer_model_info{struct_size: C.sizeof_mercer_model_info}
	C.mercer_model_shape(m.raw(), &info)
	runtime.KeepAlive(m)
	return ModelShape{int(info.rows), int(info.inputs), int(info.outputs), int(info.features), int(info.classes), float64(info.penalty),
		info.has_probabilities != 0, info.is_linear != 0}
}
