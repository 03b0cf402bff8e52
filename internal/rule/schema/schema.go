// Package schema checks payloads against JSON Schema, draft 2020-12.
//
// # Bounds
//
// A schema can be hostile, or written by mistake: references double the work with each
// level of a payload, and a pattern meets every property. Compile bounds the number of
// values, the depth and the patterns of a schema, and Check bounds the work of each check by
// counting, not by a clock: the speed of the machine does not matter. Patterns are those of
// package regexp, in linear time.
//
// # References
//
// A reference leads to a place in the same schema. The package loads no document, from
// no network and from no file.
//
// # Formats
//
// The keyword format is an annotation, as the draft has it by default, and checks nothing.
package schema

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"surehook.example/surehook/internal/hook"
)

// Dialect is the only value of $schema.
const Dialect = "https://json-schema.org/draft/2020-12/schema"

// Bounds of schemas and payloads.
const (
	MaxValues = 4096 // JSON values in a schema
	MaxDepth  = 64   // nested values in a schema and in a checked payload
	MaxErrors = 20   // errors of one check
	// MaxPatterns bounds the programs of all patterns of a schema, in instructions: about
	// one for each character of a pattern, and x{0,1000} has 2000.
	MaxPatterns = 8192
	// MaxSteps bounds one check. A step is a subschema that meets a value, or 32
	// instructions of a pattern that meet a byte, and a computation with a number has 2 or
	// more: at most about 0.5 us, and 120 bytes of memory. TestHostileBodies of package
	// httpapi holds the most expensive checks to the time of a usual one.
	MaxSteps = 1 << 19
)

// place is the URL of a schema, for references within the schema.
const place = "https://schema.invalid/root"

// Schema is a compiled schema. Schema is safe for concurrent use: one check at a time.
type Schema struct {
	mu          sync.Mutex
	root        *jsonschema.Schema
	unevaluated bool // the schema has a keyword that makes every subschema note what it met
	left        int  // steps left for the check
}

// Compile returns the schema in raw, JSON. field names the schema in errors; the place in
// the schema follows as a JSON pointer.
func Compile(raw []byte, field string) (*Schema, []hook.FieldError) {
	doc, wrong := read(raw, field)
	if wrong != nil {
		return nil, []hook.FieldError{*wrong}
	}
	if wrong := checkDocument(doc, field); wrong != nil {
		return nil, []hook.FieldError{*wrong}
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	all := newPatterns()
	c.UseRegexpEngine(all.compile)
	if err := c.AddResource(place, doc); err != nil {
		return nil, []hook.FieldError{{Field: field, Message: "cannot be read"}}
	}
	root, err := c.Compile(place)
	if all.left < 0 {
		return nil, []hook.FieldError{{Field: field, Message: errPatterns.Error()}}
	}
	if err != nil {
		return nil, explainCompile(err, field)
	}
	s := &Schema{root: root}
	if err := s.meter(root); err != nil {
		return nil, []hook.FieldError{{Field: field, Message: err.Error()}}
	}
	return s, nil
}

// noLoader refuses every document.
type noLoader struct{}

var errRemote = errors.New("a reference must lead to a place in the schema itself")

// Load returns an error.
func (noLoader) Load(string) (any, error) { return nil, errRemote }

// Check returns the errors of the payload, JSON, at most MaxErrors, or none, and the steps
// of the check, at most MaxSteps. field names the payload, and the place in the payload
// follows as a JSON pointer.
func (s *Schema) Check(payload []byte, field string) (wrong []hook.FieldError, steps int) {
	doc, unreadable := read(payload, field)
	if unreadable != nil {
		return []hook.FieldError{*unreadable}, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	s.left = MaxSteps
	err := s.root.Validate(doc)
	if s.left < 0 {
		return []hook.FieldError{{Field: field, Message: fmt.Sprintf("is too large for the schema: the check takes more than %d steps", MaxSteps)}}, MaxSteps
	}
	steps = MaxSteps - s.left
	found, ok := errors.AsType[*jsonschema.ValidationError](err)
	if err != nil && !ok {
		return []hook.FieldError{{Field: field, Message: "cannot be checked"}}, steps
	}
	if err == nil {
		return nil, steps
	}
	return explain(found, field, false), steps
}

// explainCompile returns the errors of a schema.
func explainCompile(err error, field string) []hook.FieldError {
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if found, ok := errors.AsType[*jsonschema.ValidationError](invalid.Err); ok {
			return explain(found, field, true)
		}
	}
	if errors.Is(err, errRemote) || isLoad(err) {
		return []hook.FieldError{{Field: field, Message: errRemote.Error()}}
	}
	message := strings.ReplaceAll(err.Error(), place+"#", "#")
	return []hook.FieldError{{Field: field, Message: short("cannot be compiled: "+message, maxMessage)}}
}

func isLoad(err error) bool {
	_, ok := errors.AsType[*jsonschema.LoadURLError](err)
	return ok
}
