package emf_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"surehook.example/surehook/internal/names"
)

// written returns the line as the functions' logger writes it on Lambda.
func written(attrs []slog.Attr) []byte {
	var b bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&b, &slog.HandlerOptions{ReplaceAttr: lambdacontext.ReplaceAttr}))
	attrs = append(attrs[:len(attrs):len(attrs)], slog.String("requestId", "8286a188-ba32-4475-8077-530cd35c09a9")) //nolint:sloglint // Lambda named it
	log.LogAttrs(context.Background(), slog.LevelInfo, "delivery.attempted", attrs...)
	return b.Bytes()
}

// format checks lines against the EMF schema and the further rules of the specification.
type format struct{ schema *jsonschema.Schema }

func newFormat(tb testing.TB) format {
	tb.Helper()

	raw, err := os.ReadFile("testdata/emf.schema.json")
	if err != nil {
		tb.Fatal(err)
	}
	resource, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		tb.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("emf.schema.json", resource); err != nil {
		tb.Fatal(err)
	}
	schema, err := compiler.Compile("emf.schema.json")
	if err != nil {
		tb.Fatal(err)
	}
	return format{schema}
}

// aws is the member _aws.
type aws struct {
	Timestamp         int64
	CloudWatchMetrics []struct {
		Namespace  string
		Dimensions [][]string
		Metrics    []struct{ Name, Unit string }
	}
}

// metrics are the extracted values of a line, by name, dimensions and unit.
type metrics map[string]float64

// read checks a line and returns its metrics, of which there are none without a member _aws.
func (f format) read(line []byte) (metrics, error) {
	var root map[string]jsontext.Value
	if err := json.Unmarshal(line, &root); err != nil { // duplicate names are an error
		return nil, fmt.Errorf("parse line as JSON object: %w", err)
	}
	if _, ok := root["_aws"]; !ok {
		return metrics{}, nil
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		return nil, fmt.Errorf("read line: %w", err)
	}
	if err := f.schema.Validate(document); err != nil {
		return nil, fmt.Errorf("check against the schema: %w", err)
	}
	var meta aws
	if err := json.Unmarshal(root["_aws"], &meta, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("read _aws: %w", err)
	}
	got := metrics{}
	for _, d := range meta.CloudWatchMetrics {
		if d.Namespace != "Surehook" || len(d.Metrics) < 1 || len(d.Metrics) > 100 {
			return nil, fmt.Errorf("directive of %s has %d metrics; want Surehook and 1 to 100", d.Namespace, len(d.Metrics))
		}
		for _, set := range d.Dimensions {
			by, err := identity(root, set)
			if err != nil {
				return nil, err
			}
			for _, m := range d.Metrics {
				value, err := number(root, m.Name)
				if err != nil {
					return nil, err
				}
				id := m.Name + by + " " + m.Unit
				if _, twice := got[id]; twice {
					return nil, fmt.Errorf("metric %s is a duplicate", id)
				}
				got[id] = value
			}
		}
	}
	return got, nil
}

// identity returns the dimensions of a set with their values, as text. Only dimensions with few values
// are valid.
func identity(root map[string]jsontext.Value, set []string) (string, error) {
	if len(set) > 30 {
		return "", fmt.Errorf("set of %d dimensions; want 30 at most", len(set))
	}
	by := ""
	for _, name := range set {
		switch name {
		case names.MetricEnvironment, names.MetricOutcome, names.MetricRegion, names.MetricQueue:
		default:
			return "", fmt.Errorf("dimension %s is not one of those with few values", name)
		}
		var value string
		if err := json.Unmarshal(root[name], &value); err != nil {
			return "", fmt.Errorf("read dimension %s as text: %w", name, err)
		}
		if n := utf8.RuneCountInString(value); n < 1 || n > 1024 {
			return "", fmt.Errorf("dimension %s has %d characters; want 1 to 1024", name, n)
		}
		by += " " + name + "=" + value
	}
	return by, nil
}

func number(root map[string]jsontext.Value, name string) (float64, error) {
	var value float64
	if err := json.Unmarshal(root[name], &value); err != nil {
		return 0, fmt.Errorf("read metric %s = %s as a number: %w", name, root[name], err)
	}
	if math.Abs(value) > math.MaxInt64 {
		return 0, fmt.Errorf("metric %s = %s is beyond 64 bits", name, root[name])
	}
	return value, nil
}

// TestFormat_refusesInvalidLines checks the checks of the other tests.
func TestFormat_refusesInvalidLines(t *testing.T) {
	t.Parallel()

	const head = `{"environment":"prod","tenant":"acme","accepted":1,"_aws":{"Timestamp":1,"CloudWatchMetrics":[{"Namespace":"Surehook",`
	tests := []struct {
		name, line string
		valid      bool
	}{
		{name: "a valid line", line: head + `"Dimensions":[["environment"]],"Metrics":[{"Name":"accepted","Unit":"Count"}]}]}}`, valid: true},
		{name: "an unknown unit", line: head + `"Dimensions":[["environment"]],"Metrics":[{"Name":"accepted","Unit":"ms"}]}]}}`, valid: false},
		{name: "an unknown metric", line: head + `"Dimensions":[["environment"]],"Metrics":[{"Name":"dead","Unit":"Count"}]}]}}`, valid: false},
		{name: "a text as a metric", line: head + `"Dimensions":[["environment"]],"Metrics":[{"Name":"tenant","Unit":"Count"}]}]}}`, valid: false},
		{name: "an unknown dimension", line: head + `"Dimensions":[["outcome"]],"Metrics":[{"Name":"accepted","Unit":"Count"}]}]}}`, valid: false},
		{name: "a dimension with many values", line: head + `"Dimensions":[["tenant"]],"Metrics":[{"Name":"accepted","Unit":"Count"}]}]}}`, valid: false},
		{name: "no dimensions", line: head + `"Dimensions":[],"Metrics":[{"Name":"accepted","Unit":"Count"}]}]}}`, valid: false},
		{name: "no metrics", line: head + `"Dimensions":[["environment"]],"Metrics":[]}]}}`, valid: false},
		{name: "a metric twice", line: head + `"Dimensions":[["environment"],["environment"]],"Metrics":[{"Name":"accepted","Unit":"Count"}]}]}}`, valid: false},
		{name: "a member twice", line: `{"accepted":1,"accepted":1}`, valid: false},
		{name: "no time", line: `{"_aws":{"CloudWatchMetrics":[]}}`, valid: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if _, err := newFormat(t).read([]byte(tt.line)); (err == nil) != tt.valid {
				t.Errorf("read(%s) = %v; want valid %t", tt.line, err, tt.valid)
			}
		})
	}
}

// at is the time of measurement in the tests.
var at = time.Date(2026, 3, 4, 12, 37, 0, 0, time.UTC)
