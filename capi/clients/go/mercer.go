// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

// Package mercer has random feature maps of kernels, and models on them, by libmercer, which pkg-config finds.
//
// What is made is said by a spec, JSON text; Spec writes that of a MaternKernel, FourierMap, RidgeModel, ...
// Slices are read and written in place. Handles are freed by Close, or with their last reference. Any number of goroutines may use
// one handle at once; a Context serves one call at a time, and may be nil.
package mercer

// #cgo pkg-config: mercer
// #include <mercer/mercer.h>
// #include <stdlib.h>
import "C"

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

// Error is a call that failed: the name of its status, and function, argument, value and expectation in words.
type Error struct{ Status, Text string }

func (e *Error) Error() string { return e.Text }

// check runs a call. A goroutine may change its thread of the system between two calls, and the text of an error is the thread's.
func check(call func() C.mercer_status) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if status := call(); status != C.MERCER_OK {
		return &Error{C.GoString(C.mercer_status_name(status)), C.GoString(C.mercer_last_error())}
	}
	return nil
}

func invalid(format string, values ...any) error {
	return &Error{"MERCER_INVALID_ARGUMENT", fmt.Sprintf(format, values...)}
}

// cString gives text to C, which would end it at a NUL. Its caller frees it.
func cString(text string) (*C.char, error) {
	if at := strings.IndexByte(text, 0); at >= 0 {
		return nil, invalid("a NUL at byte %d of %q, expected text without", at, text)
	}
	return C.CString(text), nil
}

// filled gives the bytes that a call writes into a buffer of the size it asks for.
func filled(call func(buffer unsafe.Pointer, capacity C.int64_t, needed *C.int64_t) C.mercer_status) ([]byte, error) {
	needed := (*C.int64_t)(C.calloc(1, 8))
	defer C.free(unsafe.Pointer(needed))
	if err := check(func() C.mercer_status { return call(nil, 0, needed) }); err != nil {
		return nil, err
	}
	size := *needed
	buffer := C.malloc(C.size_t(size))
	defer C.free(buffer)
	if err := check(func() C.mercer_status { return call(buffer, size, needed) }); err != nil {
		return nil, err
	}
	return C.GoBytes(buffer, C.int(size)), nil
}

func text(call func(buffer *C.char, capacity C.int64_t, needed *C.int64_t) C.mercer_status) (string, error) {
	bytes, err := filled(func(buffer unsafe.Pointer, capacity C.int64_t, needed *C.int64_t) C.mercer_status {
		return call((*C.char)(buffer), capacity, needed)
	})
	if err != nil {
		return "", err
	}
	return string(bytes[:len(bytes)-1]), nil
}

// Version is that of the loaded library.
func Version() string { return C.GoString(C.mercer_version()) }

// Specs says what kernels, maps, projections and models there are, or those of a name: JSON.
func Specs(name string) (string, error) {
	c, err := cString(name)
	if err != nil {
		return "", err
	}
	defer C.free(unsafe.Pointer(c))
	return text(func(buffer *C.char, capacity C.int64_t, needed *C.int64_t) C.mercer_status {
		return C.mercer_specs(c, buffer, capacity, needed)
	})
}

// Number is float32 or float64.
type Number interface{ ~float32 | ~float64 }

func number[T Number]() C.int32_t {
	if unsafe.Sizeof(T(0)) == 4 {
		return C.MERCER_NUMBER_F32
	}
	return C.MERCER_NUMBER_F64
}

func address[T Number](values []T) unsafe.Pointer {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Pointer(&values[0])
}

// rowsOf is the number of rows of d numbers in a slice.
func rowsOf[T Number](name string, values []T, d int) (C.int64_t, error) {
	if d < 1 || len(values)%d != 0 {
		return 0, invalid("%s has %d numbers, expected rows of %d", name, len(values), d)
	}
	return C.int64_t(len(values) / d), nil
}
