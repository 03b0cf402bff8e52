package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"surehook.example/surehook/internal/hook"
)

// Bounds of a number. The check computes with exact fractions, and 1e1000000 would take a million
// digits.
const (
	maxNumber   = 100 // bytes
	maxExponent = 400
)

// read decodes JSON and returns what makes the check impossible.
func read(raw []byte, field string) (any, *hook.FieldError) {
	doc, message := hook.DecodeValue(raw)
	if message != "" {
		return nil, &hook.FieldError{Field: field, Message: message}
	}
	if at, message := unfit(doc, 0); message != "" {
		return nil, &hook.FieldError{Field: field + short(at, maxPlace), Message: message}
	}
	return doc, nil
}

// unfit returns the place of the first value that is too deep or too large, and why. The message
// is empty if there is none.
func unfit(v any, depth int) (at, message string) {
	if depth > MaxDepth {
		return "", fmt.Sprintf("is nested in more than %d levels", MaxDepth)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if at, message := unfit(v[name], depth+1); message != "" {
				return hook.Pointer(name) + at, message
			}
		}
	case []any:
		for i, value := range v {
			if at, message := unfit(value, depth+1); message != "" {
				return hook.Pointer(strconv.Itoa(i)) + at, message
			}
		}
	case json.Number:
		if !fits(v.String()) {
			return "", fmt.Sprintf("must be a number of at most %d characters with an exponent from -%d to %d", maxNumber, maxExponent, maxExponent)
		}
	}
	return "", ""
}

func fits(number string) bool {
	if len(number) > maxNumber {
		return false
	}
	_, exponent, has := strings.Cut(strings.ToLower(number), "e")
	if !has {
		return true
	}
	n, err := strconv.Atoi(exponent)
	return err == nil && n >= -maxExponent && n <= maxExponent
}

// checkDocument returns the first thing in a schema that this package does not accept.
func checkDocument(doc any, field string) *hook.FieldError {
	switch doc.(type) {
	case map[string]any, bool:
	default:
		return &hook.FieldError{Field: field, Message: "must be an object, true or false"}
	}
	values := 0
	if at, message := refuse(doc, true, &values); message != "" {
		return &hook.FieldError{Field: field + short(at, maxPlace), Message: message}
	}
	return nil
}

// refuse returns the place of the first value that a schema must not have, and why. A nested $id
// is refused, because it would begin another schema.
func refuse(v any, root bool, values *int) (at, message string) {
	if *values++; *values > MaxValues {
		return "", fmt.Sprintf("must have at most %d values", MaxValues)
	}
	switch v := v.(type) {
	case map[string]any:
		if dialect, ok := v["$schema"].(string); ok && strings.TrimSuffix(dialect, "#") != Dialect {
			return "/$schema", "must be " + Dialect
		}
		if _, ok := v["$id"].(string); ok && !root {
			return "/$id", "must be at the root of the schema only"
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if at, message := refuse(v[name], false, values); message != "" {
				return hook.Pointer(name) + at, message
			}
		}
	case []any:
		for i, value := range v {
			if at, message := refuse(value, false, values); message != "" {
				return hook.Pointer(strconv.Itoa(i)) + at, message
			}
		}
	}
	return "", ""
}
