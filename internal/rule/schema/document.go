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
	if at, message := firstWrong(doc, 0, unfit); message != "" {
		return nil, &hook.FieldError{Field: field + short(at, maxPlace), Message: message}
	}
	return doc, nil
}

// firstWrong returns the place of the first value that is wrong by the check, and why. The
// message is empty when there is none. It looks into no wrong value.
func firstWrong(v any, depth int, check func(v any, depth int) (at, message string)) (at, message string) {
	if at, message := check(v, depth); message != "" {
		return at, message
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if at, message := firstWrong(v[name], depth+1, check); message != "" {
				return hook.Pointer(name) + at, message
			}
		}
	case []any:
		for i, value := range v {
			if at, message := firstWrong(value, depth+1, check); message != "" {
				return hook.Pointer(strconv.Itoa(i)) + at, message
			}
		}
	}
	return "", ""
}

// unfit returns why a value is too deep or too large.
func unfit(v any, depth int) (at, message string) {
	if depth > MaxDepth {
		return "", fmt.Sprintf("is nested in more than %d levels", MaxDepth)
	}
	if n, ok := v.(json.Number); ok && !fits(n.String()) {
		return "", fmt.Sprintf("must be a number of at most %d characters with an exponent from -%d to %d", maxNumber, maxExponent, maxExponent)
	}
	return "", ""
}

func fits(number string) bool {
	_, exponent, has := strings.Cut(strings.ToLower(number), "e")
	if !has || len(number) > maxNumber {
		return len(number) <= maxNumber
	}
	n, err := strconv.Atoi(exponent)
	return err == nil && n >= -maxExponent && n <= maxExponent
}

// checkDocument returns the number of values of a schema, and the first thing in it that this package
// does not accept.
func checkDocument(doc any, field string) (values int, wrong *hook.FieldError) {
	switch doc.(type) {
	case map[string]any, bool:
	default:
		return 0, &hook.FieldError{Field: field, Message: "must be an object, true or false"}
	}
	at, message := firstWrong(doc, 0, func(v any, depth int) (at, message string) {
		if values++; values > MaxValues {
			return "", fmt.Sprintf("must have at most %d values", MaxValues)
		}
		object, _ := v.(map[string]any)
		if dialect, ok := object["$schema"].(string); ok && strings.TrimSuffix(dialect, "#") != Dialect {
			return "/$schema", "must be " + Dialect
		}
		if _, ok := object["$id"].(string); ok && depth > 0 { // it would begin another schema
			return "/$id", "must be at the root of the schema only"
		}
		return "", ""
	})
	if message != "" {
		wrong = &hook.FieldError{Field: field + short(at, maxPlace), Message: message}
	}
	return values, wrong
}
