// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer_test

import (
	"errors"
	"strings"
	"testing"

	"mercer"
)

type embedding struct{ mercer.MaternKernel }
type myKernel mercer.MaternKernel
type myMap struct {
	mercer.FourierMap
	Seed uint64
}

func TestTypesOfOthersAreNoSpecs(t *testing.T) {
	matern := mercer.MaternKernel{Nu: 1.5}
	for key, entry := range map[string]mercer.Entry{"spec": embedding{matern}, "kernel": mercer.FourierMap{Kernel: embedding{matern}},
		"parts": mercer.SumKernel{Parts: []mercer.Of[mercer.Kernel]{matern, myKernel(matern)}}, "map": mercer.RidgeModel{Fit: mercer.Fit{Map: &myMap{}}}} {
		text, err := mercer.Spec(entry)
		if text != "" || !errors.Is(err, mercer.InvalidArgument) || !strings.HasPrefix(err.Error(), key+" is a mercer_test.") {
			t.Errorf("%q, %v", text, err)
		}
	}
	if text, err := mercer.Spec(&matern); err != nil || text != `{"kernel":"matern","nu":1.5}` {
		t.Error(text, err)
	}
}
