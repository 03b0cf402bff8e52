package main

import (
	"strings"
	"testing"

	"surehook.example/surehook/internal/config"
)

// The functions start with the environment of the benchmark.
func TestFunctionEnvironment(t *testing.T) {
	t.Parallel()

	lookup := func(name string) (string, bool) {
		for _, variable := range functionEnvironment("127.0.0.1:9001") {
			if value, ok := strings.CutPrefix(variable, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}
	for _, name := range []string{"ingest", "deliver", "sender", "breaker", "replay", "manage", "authorize"} {
		if _, _, err := config.Read(name, lookup); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
