// Package schema checks payloads against JSON Schema, draft 2020-12.
//
// # Bounds
//
// A schema can be expensive, by malice or by mistake: references can double the work with each
// level of a payload, and a pattern applies to every property. Compile limits the number of
// values, the depth and the patterns of a schema. Check limits the work of each check by counting
// steps, not by time, so the result does not depend on the speed of the machine. Patterns are
// those of package regexp, which runs in linear time.
//
// # References
//
// A reference leads to a place in the same schema. The package loads no other document, from a
// network or from a file.
//
// # Formats
//
// The keyword format is an annotation, which is the default of the draft, and checks nothing.
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
	// MaxPatterns bounds the size of all patterns of a schema together, in instructions of their
	// programs: about one for each character of a pattern, but 2000 for x{0,1000}.
	MaxPatterns = 8192
	// MaxSteps bounds one check. A step is one subschema applied to one value, or 32 instructions
	// of a pattern run on one byte; a computation with a number has 2 steps or more. A step takes
	// at most about 0.5 us, and 120 bytes of memory. BenchmarkHostileBodies of package httpapi
	// compares the time of the most expensive checks with that of a usual one.
	MaxSteps = 1 << 19
)

// place is the URL of every schema, for references within it.
const place = "https://schema.invalid/root"

// Schema is a compiled schema. It is safe for concurrent use, but runs one check at a time.
type Schema struct {
	mu          sync.Mutex
	root        *jsonschema.Schema
	unevaluated bool // a keyword of the schema makes every subschema record what it was applied to
	left        int  // steps left for the check
	bytes       int
}

// Bytes returns about how much memory the schema takes, and not less.
func (s *Schema) Bytes() int { return s.bytes }

// A subschema has a place for each keyword; of a pattern, an instruction takes 40 bytes, and the
// program is kept more than once.
const (
	bytesOfValue       = 3 << 10
	bytesOfInstruction = 200
)

// Compile returns the schema in the JSON text raw. field names the schema in errors, followed by
// a JSON pointer to the place in the schema.
func Compile(raw []byte, field string) (*Schema, []hook.FieldError) {
	doc, wrong := read(raw, field)
	if wrong != nil {
		return nil, []hook.FieldError{*wrong}
	}
	values, wrong := checkDocument(doc, field)
	if wrong != nil {
		return nil, []hook.FieldError{*wrong}
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	all := patterns{known: make(map[string]*pattern), left: MaxPatterns}
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
	s := &Schema{root: root, bytes: 8<<10 + 3*len(raw) + bytesOfValue*values + bytesOfInstruction*(MaxPatterns-all.left)}
	if err := s.meter(root); err != nil {
		return nil, []hook.FieldError{{Field: field, Message: err.Error()}}
	}
	return s, nil
}

// noLoader refuses to load any document.
type noLoader struct{}

var errRemote = errors.New("a reference must lead to a place in the schema itself")

// Load returns an error.
func (noLoader) Load(string) (any, error) { return nil, errRemote }

// Check returns what is wrong with the JSON payload, at most MaxErrors errors, and the steps that
// the check took, at most MaxSteps. field names the payload in errors, followed by a JSON pointer
// to the place in the payload.
func (s *Schema) Check(payload []byte, field string) (wrong []hook.FieldError, steps int) {
	decoding := len(payload) / hook.BytesPerStep
	doc, unreadable := read(payload, field)
	if unreadable != nil {
		return []hook.FieldError{*unreadable}, decoding
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	s.left = MaxSteps - decoding
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
	if _, load := errors.AsType[*jsonschema.LoadURLError](err); load || errors.Is(err, errRemote) {
		return []hook.FieldError{{Field: field, Message: errRemote.Error()}}
	}
	message := strings.ReplaceAll(err.Error(), place+"#", "#")
	return []hook.FieldError{{Field: field, Message: short("cannot be compiled: "+message, maxMessage)}}
}
