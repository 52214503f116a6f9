// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

// #include "calls.h"
import "C"

import "runtime"

// held is a handle of C, freed by close or with the last reference.
type held[P any] struct {
	handle P
	free   func(P)
}

// hold keeps the handle that a call writes.
func hold[P any](free func(P), call func(out *P) error) (*held[P], error) {
	var handle P
	if err := call(&handle); err != nil {
		return nil, err
	}
	h := &held[P]{handle, free}
	runtime.SetFinalizer(h, (*held[P]).close)
	return h, nil
}

func (h *held[P]) close() {
	if h != nil {
		var none P
		h.free(h.handle)
		h.handle = none
	}
}

// get is what C is given: NULL, which it refuses, for what is closed or was never made.
func (h *held[P]) get() P {
	if h == nil {
		var none P
		return none
	}
	return h.handle
}

// Kernel is an exact kernel.
type Kernel struct{ held *held[*C.mercer_kernel] }

// Close frees the kernel; so does the collector.
func (k *Kernel) Close() {
	if k != nil {
		k.held.close()
	}
}

func (k *Kernel) raw() *C.mercer_kernel {
	if k == nil {
		return nil
	}
	return k.held.get()
}

func kernelOf(call func(out **C.mercer_kernel) error) (*Kernel, error) {
	h, err := hold(func(handle *C.mercer_kernel) { C.mercer_kernel_free(handle) }, call)
	if err != nil {
		return nil, err
	}
	return &Kernel{h}, nil
}

// NewKernel makes a kernel of its spec, such as {"kernel":"matern","lengthscale":2}.
func NewKernel(json string) (*Kernel, error) {
	return kernelOf(func(out **C.mercer_kernel) error {
		return told(json, func(c *C.char) error {
			return check(func() C.mercer_status { return C.mercer_kernel_from_spec(c, out) })
		})
	})
}

// Spec is its JSON, which makes the same kernel again.
func (k *Kernel) Spec() (string, error) {
	defer runtime.KeepAlive(k)
	return text(func(buffer *C.char, capacity C.int64_t, needed *C.int64_t) C.mercer_status {
		return C.mercer_kernel_spec(k.raw(), buffer, capacity, needed)
	})
}

// Gram is K(x, y) of a kernel of one output, row after row.
func Gram[T, U Number](k *Kernel, x Rows[T], y Rows[U], context *Context) ([]float64, error) {
	K := make([]float64, x.n*y.n)
	defer runtime.KeepAlive(k)
	return K, context.run(func(running *C.mercer_context) C.mercer_status {
		return C.go_gram(k.raw(), x.view(), y.view(), running, address[C.double](K))
	}, x.err, y.err)
}
