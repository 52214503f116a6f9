// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

// #include "calls.h"
import "C"

import "unsafe"

// Model is preparation, map and weights.
type Model struct{ held *held[*C.mercer_model] }

// Close frees the model.
func (m *Model) Close() {
	if m != nil {
		m.held.close()
	}
}

func (m *Model) use() (handle *C.mercer_model, done func()) {
	if m == nil {
		return nil, func() {}
	}
	return m.held.use()
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
		return told("LoadModel: path", path, func(c *C.char) error {
			return check(func() C.mercer_status { return C.mercer_model_read(c, nil, 0, out) })
		})
	})
}

// Save writes the model to a file.
func (m *Model) Save(path string) error {
	handle, done := m.use()
	defer done()
	return told("Model.Save: path", path, func(c *C.char) error {
		return check(func() C.mercer_status { return C.mercer_model_write(handle, c, nil, 0, nil) })
	})
}

// MarshalBinary gives what Save writes.
func (m *Model) MarshalBinary() ([]byte, error) {
	handle, done := m.use()
	defer done()
	return filled(func(buffer unsafe.Pointer, capacity C.int64_t, needed *C.int64_t) C.mercer_status {
		return C.mercer_model_write(handle, nil, buffer, capacity, needed)
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

// Text is "spec", "report", "norms" or "metadata".
func (m *Model) Text(what string) (said string, err error) {
	handle, done := m.use()
	defer done()
	err = told("Model.Text: what", what, func(c *C.char) (err error) {
		said, err = text(func(buffer *C.char, capacity C.int64_t, needed *C.int64_t) C.mercer_status {
			return C.mercer_model_text(handle, c, buffer, capacity, needed)
		})
		return err
	})
	return said, err
}

// SetMetadata keeps a text, such as the names of columns, with the model and its file; nobody else may use the model meanwhile.
func (m *Model) SetMetadata(text string) error {
	handle, done := m.use()
	defer done()
	return told("Model.SetMetadata: text", text, func(c *C.char) error {
		return check(func() C.mercer_status { return C.mercer_model_set_metadata(handle, c) })
	})
}

// Map is the model's map, whose inputs are not the model's own but what Predict gives for "prepared".
func (m *Model) Map() (*Map, error) {
	handle, done := m.use()
	defer done()
	return mapOf(func(out **C.mercer_map) error {
		return check(func() C.mercer_status { return C.mercer_model_map(handle, out) })
	})
}

// ModelShape is what a model was fitted to, reads and writes.
type ModelShape struct {
	Rows, Inputs, Outputs, Features int
	Classes                         int // 0: a regression
	Penalty                         float64
	Probabilities, Linear           bool // whether Predict knows "probability", whether there are weights
	WeightRows                      int  // rows of the weights; 0: there are none
}

// Shape is what the model was fitted to, reads and writes.
func (m *Model) Shape() ModelShape {
	handle, done := m.use()
	defer done()
	return modelShape(handle)
}

func modelShape(handle *C.mercer_model) ModelShape {
	info := C.mercer_model_info{struct_size: C.sizeof_mercer_model_info}
	C.mercer_model_shape(handle, &info)
	return ModelShape{int(info.rows), int(info.inputs), int(info.outputs), int(info.features), int(info.classes), float64(info.penalty),
		info.has_probabilities != 0, info.is_linear != 0, int(info.weight_rows)}
}
