// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

// Package mercer has random feature maps of kernels, and models on them, by libmercer, which pkg-config finds.
//
//	model, err := mercer.FitModel("{}", mercer.Data[float64]{X: mercer.Dense(x, 3), Y: mercer.Dense(y, 1)}, nil)
//	f, err := mercer.Predict(model, mercer.Dense(t, 3), mercer.Ask{}, nil)
//
// What is made is said by a spec, JSON text; Spec writes that of a MaternKernel, FourierMap, RidgeModel, ...
//
// Slices are read and written in place. Handles are freed by Close, or with their last reference: close large maps and models, whose
// size the collector does not see. Close may come from any goroutine and more than once; calls that run keep the handle until they
// return. Any number of goroutines may use one handle at once; a Context serves one call at a time, and may be nil.
package mercer

// #cgo pkg-config: mercer
// #include "calls.h"
import "C"

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

// Status is the name of what failed; errors.Is(err, mercer.Cancelled) compares it.
type Status string

const (
	InvalidArgument     Status = "MERCER_INVALID_ARGUMENT"
	DimensionMismatch   Status = "MERCER_DIMENSION_MISMATCH"
	OutOfMemory         Status = "MERCER_OUT_OF_MEMORY"
	Unsupported         Status = "MERCER_UNSUPPORTED"
	NotRegistered       Status = "MERCER_NOT_REGISTERED"
	NotPositiveDefinite Status = "MERCER_NOT_POSITIVE_DEFINITE"
	NotConverged        Status = "MERCER_NOT_CONVERGED"
	IO                  Status = "MERCER_IO"
	CorruptFile         Status = "MERCER_CORRUPT_FILE"
	NewerVersion        Status = "MERCER_NEWER_VERSION"
	Cancelled           Status = "MERCER_CANCELLED"
	Callback            Status = "MERCER_CALLBACK"
	Internal            Status = "MERCER_INTERNAL"
)

func (s Status) Error() string { return string(s) }

// Error is a call that failed: its status, and function, argument, value and expectation in words.
type Error struct {
	Status Status
	Text   string
}

func (e *Error) Error() string { return e.Text }

// Is says whether the error has this Status.
func (e *Error) Is(target error) bool { return target == e.Status }

// check runs a call. A goroutine may change its thread of the system between two calls, and the text of an error is the thread's.
func check(call func() C.mercer_status) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if status := call(); status != C.MERCER_OK {
		return &Error{Status(C.GoString(C.mercer_status_name(status))), C.GoString(C.mercer_last_error())}
	}
	return nil
}

func invalid(format string, values ...any) error {
	return &Error{InvalidArgument, fmt.Sprintf(format, values...)}
}

func mismatch(format string, values ...any) error {
	return &Error{DimensionMismatch, fmt.Sprintf(format, values...)}
}

// given is a value, or the zero one beside an error.
func given[V any](value V, err error) (V, error) {
	if err != nil {
		var none V
		return none, err
	}
	return value, nil
}

// room is a slice of a x b numbers for a result, or an error where there is no memory: make would end the process.
func room[T any](function string, context *Context, a, b int) ([]T, error) {
	var one T
	bytes := float64(a) * float64(b) * float64(unsafe.Sizeof(one))
	capped := context != nil && context.options.MemoryCap > 0 && bytes > float64(context.options.MemoryCap)
	if capped || C.go_room(C.double(bytes)) == 0 {
		return nil, &Error{OutOfMemory, fmt.Sprintf("%s: a result of %d x %d numbers, expected one that fits into memory and the context's cap",
			function, a, b)}
	}
	return make([]T, a*b), nil
}

// faulty is the first error.
func faulty(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// told runs a call with text for C, an argument of that name, which would end at a NUL.
func told(argument, text string, call func(*C.char) error) error {
	if at := strings.IndexByte(text, 0); at >= 0 {
		return invalid("%s = %q has a NUL at byte %d, expected text without", argument, text, at)
	}
	c := C.CString(text)
	defer C.free(unsafe.Pointer(c))
	return call(c)
}

// filled gives the bytes that a call writes into a buffer of the size it asks for.
func filled(call func(buffer unsafe.Pointer, capacity C.int64_t, needed *C.int64_t) C.mercer_status) ([]byte, error) {
	var needed C.int64_t
	if err := check(func() C.mercer_status { return call(nil, 0, &needed) }); err != nil {
		return nil, err
	}
	bytes := make([]byte, needed)
	return bytes, check(func() C.mercer_status { return call(unsafe.Pointer(&bytes[0]), needed, &needed) })
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
func Specs(name string) (said string, err error) {
	err = told("Specs: name", name, func(c *C.char) (err error) {
		said, err = text(func(buffer *C.char, capacity C.int64_t, needed *C.int64_t) C.mercer_status {
			return C.mercer_specs(c, buffer, capacity, needed)
		})
		return err
	})
	return said, err
}
