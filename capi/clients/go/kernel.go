// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

// #include "calls.h"
import "C"

// Kernel is an exact kernel.
type Kernel struct{ held *held[*C.mercer_kernel] }

// Close frees the kernel; so does the collector.
func (k *Kernel) Close() {
	if k != nil {
		k.held.close()
	}
}

func (k *Kernel) use() (handle *C.mercer_kernel, done func()) {
	if k == nil {
		return nil, func() {}
	}
	return k.held.use()
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
		return told("NewKernel: json", json, func(c *C.char) error {
			return check(func() C.mercer_status { return C.mercer_kernel_from_spec(c, out) })
		})
	})
}

// Spec is its JSON, which makes the same kernel again.
func (k *Kernel) Spec() (string, error) {
	handle, done := k.use()
	defer done()
	return text(func(buffer *C.char, capacity C.int64_t, needed *C.int64_t) C.mercer_status {
		return C.mercer_kernel_spec(handle, buffer, capacity, needed)
	})
}

// Gram is K(x, y) of a kernel of one output, row after row.
func Gram[T, U Number](k *Kernel, x Rows[T], y Rows[U], context *Context) ([]float64, error) {
	handle, done := k.use()
	defer done()
	K, err := room[float64]("Gram", context, x.n, y.n)
	if err != nil {
		return nil, err
	}
	return given(K, context.run(func(running *C.mercer_context) C.mercer_status {
		return C.go_gram(handle, x.view(), y.view(), running, address[C.double](K))
	}, x.err, y.err))
}
