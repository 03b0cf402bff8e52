package config_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"surehook.example/surehook/internal/config"
)

// The template gives each function the variables that it reads.
func TestRead_template(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("../../infra/surehook/testdata/prod.template.json")
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Resources map[string]struct {
			Properties struct {
				FunctionName any `json:"FunctionName"`
				Environment  struct {
					Variables map[string]any `json:"Variables"`
				} `json:"Environment"`
			} `json:"Properties"`
		} `json:"Resources"`
	}
	if err := json.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	variables := make(map[string]map[string]any)
	for _, r := range template.Resources {
		if name, ok := r.Properties.FunctionName.(string); ok {
			variables[strings.TrimPrefix(name, "surehook-prod-")] = r.Properties.Environment.Variables
		}
	}
	for _, name := range []string{"ingest", "deliver", "breaker", "replay", "manage", "authorize"} {
		_, ignored, err := config.Read(name, func(variable string) (string, bool) {
			switch value := variables[name][variable].(type) {
			case nil:
				return "", false
			case string:
				return value, true
			}
			return "a reference", true
		})
		if err != nil || len(ignored) > 0 {
			t.Errorf("%s with the variables of the template: %v, %v", name, err, ignored)
		}
	}
}
