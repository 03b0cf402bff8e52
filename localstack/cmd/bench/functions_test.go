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
	for name, read := range map[string]func(config.Lookup) error{
		"ingest":    func(l config.Lookup) error { _, err := config.ForIngest(l); return err },
		"deliver":   func(l config.Lookup) error { _, err := config.ForDeliver(l); return err },
		"sender":    func(l config.Lookup) error { _, err := config.ForSender(l); return err },
		"breaker":   func(l config.Lookup) error { _, err := config.ForBreaker(l); return err },
		"replay":    func(l config.Lookup) error { _, err := config.ForReplay(l); return err },
		"manage":    func(l config.Lookup) error { _, err := config.ForManage(l); return err },
		"authorize": func(l config.Lookup) error { _, err := config.ForAuthorize(l); return err },
	} {
		if err := read(lookup); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
