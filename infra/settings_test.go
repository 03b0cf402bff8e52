package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/infra/surehook"
)

var update = flag.Bool("update", false, "write the table of settings in docs/deploying.md")

func write(t *testing.T, name, text string) string {
	t.Helper()

	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestReadSettings checks that the file has known settings with values of their form, and that the
// command line overrides it.
func TestReadSettings(t *testing.T) {
	t.Parallel()

	profiles, list := write(t, "acme.json", "{\n \"acme\": {}\n}\n"), write(t, "list.json", "10.20.0.0/16")
	tests := []struct {
		name, file string
		override   map[string]string
		want       settings
		wantIn     string // part of the error
	}{
		{name: "no file", want: settings{}},
		{name: "a file", file: `{"$schema": "../infra/settings.schema.json", "FIXED": "2", "PORTAL_NAME": "A shop"}`, want: settings{"FIXED": "2", "PORTAL_NAME": "A shop"}},
		{name: "the command line comes first", file: `{"FIXED": "2", "TRACES": "xray"}`, override: map[string]string{"FIXED": "1", "SENDERS": "us-east-1"}, want: settings{"FIXED": "1", "TRACES": "xray", "SENDERS": "us-east-1"}},
		{name: "a misspelt setting", file: `{"ALARM_MAIL": "a@example.com"}`, wantIn: "ALARM_MAIL"},
		{name: "a wrong value", file: `{"VALIDATION": "strict"}`, wantIn: "VALIDATION"},
		{name: "a wrong value of the command line", override: map[string]string{"FIXED": "3"}, wantIn: "FIXED"},
		{name: "a number", file: `{"FIXED": 2}`, wantIn: "FIXED"},
		{name: "a file of JSON", override: map[string]string{"SIGNATURE_PROFILES": profiles}, want: settings{"SIGNATURE_PROFILES": `{"acme":{}}`}},
		{name: "a file of PEM", override: map[string]string{"PRIVATE_CA": list}, want: settings{"PRIVATE_CA": "10.20.0.0/16"}},
		{name: "a file without JSON", override: map[string]string{"PRIVATE_ALLOW": list}, wantIn: "read PRIVATE_ALLOW from " + list},
		{name: "a missing file", override: map[string]string{"PRIVATE_CA": list + "x"}, wantIn: "read PRIVATE_CA"},
		{name: "no JSON", file: `FIXED=2`, wantIn: "is not a JSON object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var file string
			if tt.file != "" {
				file = write(t, "prod.json", tt.file)
			}
			got, err := readSettings(file, func(name string) string { return tt.override[name] })
			if tt.wantIn != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantIn) {
					t.Errorf("readSettings() = %v; want an error with %q", err, tt.wantIn)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("readSettings() = %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestSettings_apply sets every setting of the schema, one after the other, and sees each in the
// environment.
func TestSettings_apply(t *testing.T) {
	t.Parallel()

	profiles := write(t, "acme.json", "{ }")
	values := map[string]string{"VALIDATION": "warn", "ENDPOINTS_PER_HOST": "3", "LOG_DAYS": "365", "OWNERSHIP": "challenge", "FIXED": "2", "ENVELOPE": "raw", "SIGNATURE_PROFILES": filepath.Base(profiles), "PRIVATE_ALLOW": filepath.Base(profiles), "PRIVATE_CA": filepath.Base(profiles)}
	for _, p := range properties(t) {
		value, ok := values[p.name]
		if !ok {
			value = "a value"
		}
		text, _ := json.Marshal(map[string]string{p.name: value})
		file := filepath.Join(filepath.Dir(profiles), p.name+".json")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := readSettings(file, func(string) string { return "" })
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
			continue
		}
		var without, with surehook.Environment
		s.apply(&with)
		if fmt.Sprint(without) == fmt.Sprint(with) {
			t.Errorf("%s changes nothing", p.name)
		}
	}
}

// property is a setting of the schema.
type property struct{ name, about string }

// properties returns the settings in the order of the schema.
func properties(t *testing.T) []property {
	t.Helper()

	var schema struct {
		Properties map[string]struct {
			Description string `json:"description"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(schemaText, &schema); err != nil {
		t.Fatal(err)
	}
	var all []property
	for _, match := range regexp.MustCompile(`(?m)^    "([A-Z_]+)": \{$`).FindAllStringSubmatch(string(schemaText), -1) {
		all = append(all, property{match[1], schema.Properties[match[1]].Description})
	}
	if len(all) != len(schema.Properties)-1 { // without $schema
		t.Fatalf("%d of %d settings begin a line, as the Makefile expects", len(all), len(schema.Properties)-1)
	}
	return all
}

// TestSettings_document holds the table of docs/deploying.md to the schema.
func TestSettings_document(t *testing.T) {
	t.Parallel()

	const path, begin, end = "../docs/deploying.md", "| setting | meaning |\n|---|---|\n", "\n\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	table, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no table of settings", path)
	}
	var want []string
	for _, p := range properties(t) {
		want = append(want, "| `"+p.name+"` | "+p.about+" |")
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+strings.Join(want, "\n")+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, strings.Split(table, "\n")); diff != "" {
		t.Errorf("%s (-schema +document), write it with -update:\n%s", path, diff)
	}
}
