// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"unicode"
)

// Of is a spec of a Kernel, Map, Model, ...: MaternKernel, FourierMap and so on are, by the key named as their field. What a key means,
// its range and default: `mercer specs NAME`. A field is left out where it is zero; Given gives a zero where one is allowed. The name of
// the type says what is made, so that types of yours that have these inside are refused.
type Of[K any] interface {
	Entry
	of(K)
}

// Entry is any spec.
type Entry interface{ entry() }

type is[K any] struct{}

func (is[K]) of(K)   {}
func (is[K]) entry() {}

// Numbers holds one number for each input, or a single one for all of them.
type Numbers []float64

// Given points to a value, for the fields that are pointers: these are left out where they are nil, and written even if they are zero.
func Given[T any](value T) *T { return &value }

// Spec is the JSON text of an entry, for NewMap and the like.
func Spec(entry Entry) (string, error) { return given(written(reflect.ValueOf(entry), "spec")) }

func written(value reflect.Value, key string) (string, error) {
	switch value.Kind() {
	case reflect.Invalid:
		return "", invalid("%s is nil, expected a spec", key)
	case reflect.Interface, reflect.Pointer:
		return written(value.Elem(), key)
	case reflect.Struct:
		// Methods of what is embedded are those of the outer type, too.
		if kind := value.Type(); kind.PkgPath() != reflect.TypeOf(Prepare{}).PkgPath() || kind.NumField() == 0 || kind.Field(0).Name != "is" {
			return "", invalid("%s is a %s, expected a type of package mercer itself", key, kind)
		}
		parts, err := fields(value)
		return "{" + strings.Join(parts, ",") + "}", err
	case reflect.Slice:
		if value.Type() == reflect.TypeOf(Numbers{}) && value.Len() == 1 {
			return written(value.Index(0), key)
		}
		parts := make([]string, value.Len())
		for i := range parts {
			part, err := written(value.Index(i), key)
			if err != nil {
				return "", err
			}
			parts[i] = part
		}
		return "[" + strings.Join(parts, ",") + "]", nil
	case reflect.Float64:
		if number := value.Float(); math.IsNaN(number) || math.IsInf(number, 0) {
			return "", invalid("%s = %g, expected a finite number", key, number)
		}
	}
	text, err := json.Marshal(value.Interface())
	return string(text), err
}

// fields are those of a struct, after the key that its type names: "kernel":"matern" of a MaternKernel.
func fields(value reflect.Value) (parts []string, err error) {
	kind := value.Type()
	for suffix, key := range named {
		// The map that suits a kernel has no name.
		if name := strings.TrimSuffix(kind.Name(), suffix); name != kind.Name() && kind.Name() != "AutoMap" {
			parts = append(parts, `"`+key+`":"`+snake(name)+`"`)
		}
	}
	for i := 0; i < kind.NumField() && err == nil; i++ {
		part, field := "", kind.Field(i)
		switch {
		case field.Name == "Fit":
			var inner []string
			inner, err = fields(value.Field(i))
			parts = append(parts, inner...)
		case field.IsExported() && !value.Field(i).IsZero():
			part, err = written(value.Field(i), snake(field.Name))
			parts = append(parts, `"`+snake(field.Name)+`":`+part)
		}
	}
	return parts, err
}

// snake is a key from the name of its field: YKernels is y_kernels.
func snake(name string) string {
	key := ""
	for i, letter := range name {
		if i > 0 && unicode.IsUpper(letter) {
			key += "_"
		}
		key += string(unicode.ToLower(letter))
	}
	return key
}
